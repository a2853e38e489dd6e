"""The pages of docs/ are true: their Python runs, and then their commands."""

import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from graphmover.cli import main

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```python" in page.read_text()]
PAGES.remove(DOCS / "datasets.md")  # it needs files at hand: test_datasets_tu runs it
NEEDS = {"json-lines.md": ["networkx"], "graphml-gml.md": ["networkx"], "smiles.md": ["rdkit"]}


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


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


def test_links_lead_somewhere():
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_format_has_a_page():
    from graphmover.io.formats import FILES, FOLDERS

    table = (DOCS / "formats" / "README.md").read_text()
    for ending in FILES:
        assert f"`x{ending}`" in table
    for holds in FOLDERS:
        assert holds.removeprefix("*.") in table
