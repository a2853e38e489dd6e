"""The pages are true: examples and commands run, links resolve, promises have tests."""

import ast
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from graphmover import __version__
from graphmover.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```python" in page.read_text()]
PAGES.remove(DOCS / "datasets.md")  # it needs data files: tests/datasets/test_tu.py runs it
PAGES.remove(DOCS / "you-asked.md")  # tests/test_you_asked.py runs it
NEEDS = {
    "json-lines.md": ["networkx"],
    "graphml-gml.md": ["networkx"],
    "graph6-edge-lists.md": ["networkx"],
    "smiles.md": ["rdkit"],
}


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:1 graph could not be read")  # ids.md shows it
@pytest.mark.filterwarnings("ignore:1 .*no nodes")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    for library in ["pyarrow", *NEEDS.get(page.name, [])]:
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own
    names = {}
    for block in blocks(page, "python"):
        exec(block, names)
    for line in "".join(blocks(page, "sh")).splitlines():
        command, *arguments = shlex.split(line, comments=True) or [None]
        if command == "graphmover":
            monkeypatch.setattr(sys, "argv", ["graphmover", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            assert not end.value.code, (line, capsys.readouterr().err)
    if page.name == "command-line.md":
        shown = capsys.readouterr().out
        assert "1 x 3-fold cross-validation" in shown
        assert re.search(r"majority class +1\d\.\d \+- +\d\.\d %", shown)


def test_links_resolve():
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_architecture_page_lists_every_module():
    page = (DOCS / "architecture.md").read_text()
    [tree] = re.findall(r"```\ngraphmover/\n(.*?)```", page, re.DOTALL)
    entries = re.split(r"^  (?=\w)", tree, flags=re.MULTILINE)  # a package or module each
    package = ROOT / "src" / "graphmover"
    for file in [*package.rglob("*.py"), *package.rglob("*.cu*")]:
        name = file.stem if file.suffix == ".py" else file.name
        if name in ("__init__", "__main__"):
            continue
        first, *inner = file.relative_to(package).parts
        places = [entry for entry in entries if f"{first}/" in entry] if inner else entries
        assert any(re.search(rf"\b{re.escape(name)}\b", place) for place in places), file
    for name in re.findall(r"^ +(\w+)/", tree, re.MULTILINE):
        assert any(path.is_dir() for path in package.rglob(name)), name
    for span in re.findall(r"`([\w/]+(?:/|\.py|\.cuh?|\.md))`", page):
        assert any((folder / span).exists() for folder in (package, ROOT)), span


def test_every_format_has_a_page():
    from graphmover.io.formats import FILES, FOLDERS

    table = (DOCS / "formats" / "README.md").read_text()
    for ending in FILES:
        assert f"`x{ending}`" in table
    for holds in FOLDERS:
        assert holds.removeprefix("*.") in table


def test_the_index_lists_every_page():
    links = re.findall(r"\]\(([^)]+)\)", (DOCS / "README.md").read_text())
    listed = {(DOCS / link).resolve() for link in links}
    pages = {page.resolve() for page in DOCS.rglob("*.md")}
    assert pages - {(DOCS / "README.md").resolve()} <= listed


def test_the_glossary_is_alphabetical():
    terms = re.findall(r"^\*\*(.+?)\.\*\*", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    keys = [re.sub(r"\W", "", term).lower() for term in terms]
    assert len(terms) > 30
    assert keys == sorted(keys)


def test_every_promise_links_tests_that_exist():
    page = (DOCS / "promises.md").read_text()
    numbers = re.findall(r"^## (\d)\.", page, re.MULTILINE)
    assert numbers == list("1234567")
    for promise in page.split("\n## ")[1:]:
        links = re.findall(r"^- `(.+?)::(\w+)`", promise, re.MULTILINE)
        assert links, promise
        for file, test in links:
            assert test in functions(ROOT / file), f"{file}::{test}"
    linked = set(re.findall(r"tests/test_promises\.py::(\w+)", page))
    ours = {name for name in functions(ROOT / "tests/test_promises.py") if name.startswith("test_")}
    assert ours == linked


def functions(file):
    tree = ast.parse(file.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_citation_has_the_version_and_the_paper():
    text = (ROOT / "CITATION.cff").read_text()
    top = dict(re.findall(r"^([\w-]+): *(.*)$", text, re.MULTILINE))
    assert top["cff-version"] == "1.2.0"
    assert top["version"] == __version__
    assert top["license"] == "BSD-3-Clause"
    assert {"message", "title", "authors", "preferred-citation"} <= set(top)
    authors = ["Wu", "Yen", "Zhang", "Xu", "Zhao", "Peng", "Xia", "Aggarwal"]
    assert re.findall(r"family-names: (\w+)", text) == authors
    assert "doi: 10.1145/3292500.3330918" in text
    try:
        import yaml
    except ImportError:  # the checks above suffice
        return
    assert yaml.safe_load(text)["version"] == __version__


def test_pre_commit_runs_the_steps_of_make_check():
    config = (ROOT / ".pre-commit-config.yaml").read_text()
    makefile = (ROOT / "Makefile").read_text()
    steps = re.search(r"^check: ([a-z -]+?) *(?:##|$)", makefile, re.MULTILINE)[1].split()
    assert re.findall(r"entry: make --silent (\S+)", config) == steps


def test_make_help_describes_every_command_of_the_pages():
    makefile = (ROOT / "Makefile").read_text()
    described = set(re.findall(r"^([a-z-]+):.*## \w", makefile, re.MULTILINE))
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
        mentioned = set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text(), re.MULTILINE))
        assert mentioned <= described, page.name
