"""What makes pages that are written for a code host pages of a site."""

import re
from pathlib import Path

from docutils import nodes

DOCS = Path(__file__).parent
#: Files that are shown by pages of other names.
BESIDE = {
    "README.md": "index.rst",
    "docs/README.md": "index.rst",
    "examples/README.rst": "gallery/index.rst",
    "CHANGELOG.md": "changelog.myst",
    "CONTRIBUTING.md": "contributing.myst",
    "SECURITY.md": "reporting.myst",
    "docs/search.md": "nearest-graphs.myst",  # search.html is the search of the site
}


def on_source_read(app, page, source):
    """Fill in the lists of pages, and point links to pages of the site."""
    text = re.sub(r"^( *)@pages (.+)$", _pages, source[0], flags=re.MULTILINE)
    text = re.sub(r"^@section (.+)$", lambda match: _section(match[1]), text, flags=re.MULTILINE)
    if text != source[0]:
        app.env.note_dependency(str(DOCS / "README.md"))
    shown = re.fullmatch(r"@file (.+)\n", text)
    if shown:
        app.env.note_dependency(str(DOCS.parent / shown[1]))
        shown_file = DOCS.parent / shown[1]
        source[0] = _links(
            shown_file.read_text(encoding="utf-8"), folder=Path(shown[1]).parent, page=page
        )
    elif str(app.env.doc2path(page)).endswith((".md", ".myst")):
        source[0] = _links(text, folder=DOCS.name / Path(page).parent, page=page)
    else:  # in an example, what looks like a link may be a molecule
        source[0] = text


def on_doctree(app, doctree, page):
    """Mark what site.css gives room or may break, and keep numbers and their % together."""
    for cell in doctree.findall(nodes.entry):
        text = cell.astext()
        if len(text) > 80:
            cell["classes"].append("long")
        elif len(text) <= 16 and re.match(r"[-+]?\d", text):
            cell["classes"].append("figures")
    for table in doctree.findall(nodes.table):
        if len(list(table.findall(nodes.colspec))) > 6:
            table["classes"].append("wide")
    for code in doctree.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) > 30:
            code["classes"].append("long")
    for text in list(doctree.findall(nodes.Text)):
        if "%" in text and not isinstance(text.parent, nodes.literal | nodes.literal_block):
            joined = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)
            text.parent.replace(text, nodes.Text(joined))


def _section(heading):
    """Return what docs/README.md says under a heading."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    [section] = [text for text in sections if text.startswith(heading + "\n")]
    return re.sub("^###", "##", section.removeprefix(heading).strip(), flags=re.MULTILINE)


def _pages(match):
    """Return the pages that docs/README.md lists under a heading, as entries of a toctree."""
    links = re.findall(r"\]\(([^)#:]+)\)", _section(match[2]))
    pages = [BESIDE.get(_normal(Path("docs", link)), link) for link in links]
    return "\n".join(match[1] + page.rsplit(".", 1)[0] for page in pages)


def _links(text, folder, page):
    """Rewrite the links of a text in a folder of the repository for a page of the site."""
    here = "../" * page.count("/")

    def rewritten(link):
        file = _normal(folder / link[1])
        if file in BESIDE:
            target = BESIDE[file]
        elif file.startswith("examples/"):
            target = "gallery/" + file.removeprefix("examples/").replace(".py", ".rst")
        elif file.startswith("docs/"):
            target = file.removeprefix("docs/")
        else:
            target = "../" + file
        return f"]({here}{target}{link[2] or ''})"

    return re.sub(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)", rewritten, text)


def _normal(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
