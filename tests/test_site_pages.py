"""Pages of the repository become pages of the site (docs/site_pages.py)."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("docutils")
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def read(monkeypatch):
    """Return a function from a page and its text to the text that Sphinx reads."""
    monkeypatch.syspath_prepend(str(DOCS))
    import site_pages

    yield lambda page, text, ending=".md": _read(site_pages, page, text, ending)
    del sys.modules["site_pages"]


def _read(module, page, text, ending):
    env = SimpleNamespace(note_dependency=lambda _: None, doc2path=lambda name: Path(name + ending))
    source = [text]
    module.on_source_read(SimpleNamespace(env=env), page, source)
    return source[0]


def test_links_of_pages_lead_to_pages_of_the_site(read):
    assert read("ids", "[a](../CHANGELOG.md) [b](search.md#limits)") == (
        "[a](changelog.myst) [b](nearest-graphs.myst#limits)"
    )
    assert read("formats/csv", "[a](../ids.md)") == "[a](../ids.md)"


def test_output_of_examples_stays_as_it_is(read):
    molecule = "CC1=CC=CC=C1[N+](O)=O"
    assert read("gallery/plot_02_molecules", molecule, ".rst") == molecule


def test_lists_of_pages_say_what_each_is_about(read):
    guide = read("guide", (DOCS / "guide.myst").read_text(encoding="utf-8"))
    assert "- [Installing](installing.md): extras" in guide
    assert "\n## Graphs in\n" in guide
    assert "\ninstalling\n" in guide  # an entry of the table of contents
