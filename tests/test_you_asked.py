"""The snippets of docs/you-asked.md: each runs alone, and prints what it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "you-asked.md").read_text()

#: Threads in which the wishes were found.
ASKED = {
    "karateclub": {155, 125, 53, 29, 92, 109, 100},
    "GraKeL": {40, 37, 62, 77, 95, 9, 56, 64, 91, 26},
    "WWL": {3},
    "DGL": {4210},
    "POT": {131, 211, 392},
}

#: Thread, link and code.
SNIPPETS = re.findall(
    r"\[([\w ]+#\d+)\]\((\S+?)\)(?:(?!```).)*```python\n(.*?)```", PAGE, re.DOTALL
)


def test_each_wish_has_a_snippet_and_a_link():
    named = {f"{project} #{number}" for project, numbers in ASKED.items() for number in numbers}
    assert {name for name, _, _ in SNIPPETS} == named
    assert len(SNIPPETS) == len(named) == 22
    for name, link, _ in SNIPPETS:
        project, number = name.split(" #")
        assert link.endswith(f"{project if project != 'DGL' else 'dgl'}/issues/{number}")


@pytest.mark.parametrize(
    ("name", "snippet"), [(s[0], s[2]) for s in SNIPPETS], ids=lambda s: s[:16]
)
def test_the_snippet_prints_what_it_says(name, snippet, tmp_path, monkeypatch, capsys):
    for library in re.findall(r"^(?:import|from) (\w+)", snippet, re.MULTILINE):
        pytest.importorskip(library)
    if "CCO" in snippet:
        pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})
    said = re.findall(r"^print\(.*\)     # (.*)$", snippet, re.MULTILINE)
    assert said, "it prints nothing"
    assert capsys.readouterr().out.splitlines() == said
