"""The page itself: everything in one file, and nothing from the data can run in it."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from graphmover import __version__
from graphmover.page.charts import bokeh_library
from graphmover.page.packed import json_in_html

#: Nothing is loaded from anywhere, and only the scripts of this page run, known by their hashes.
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)

SECTIONS = {
    "data": "Data",
    "map": "Map",
    "scores": "Predictions",
    "which-anchors": "Anchors",
    "made": "How it was made",
}


def page(
    texts: Mapping[str, str], meta: Mapping[str, Any], arrays: str, charts: Mapping[str, Any]
) -> str:
    """Return the page.

    Parameters
    ----------
    texts : mapping of str to str
        HTML by the names of places in the template. What comes from the data is escaped.
    meta : mapping
        What the script needs, as JSON.
    arrays : str
        Packed arrays.
    charts : mapping of str to Bokeh model
        By the id of the element that holds them.
    """
    from bokeh.embed import json_item

    library = "\n".join(bokeh_library())
    script = _read("page.js")
    blocks = [f'<script type="application/json" id="meta">{json_in_html(meta)}</script>']
    blocks.append(f'<script type="text/plain" id="arrays">{arrays}</script>')
    for name, chart in charts.items():
        target: Any = name  # Bokeh has a type of its own for ids
        item = json_in_html(json_item(chart, target))
        blocks.append(f'<script type="application/json" data-chart="{name}">{item}</script>')
    hashes = " ".join(f"'sha256-{_sha256(source)}'" for source in (library, script))
    places = {
        "policy": _POLICY.format(scripts=hashes),
        "generator": f"graphmover {__version__}",
        "style": _read("page.css"),
        "links": " ".join(f'<a href="#{name}">{text}</a>' for name, text in SECTIONS.items()),
        "blocks": "\n".join(blocks),
        "bokeh": library,
        "script": script,
        **texts,
    }
    # One pass: what is put in is not searched for places again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: places[found[1]], _read("template.html"))


def table(rows: Iterable[tuple[str, object]]) -> str:
    """Return a table of two columns, its text escaped."""
    cells = "".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def note(text: str) -> str:
    """Return a paragraph that says why something is missing."""
    return f'<p class="note">{escaped(text)}</p>'


def chart_place(name: str) -> str:
    """Return the element for a chart."""
    return f'<div class="chart" id="{name}"></div>'


def escaped(value: object) -> str:
    """Return text as HTML shows it."""
    return html.escape(str(value), quote=True)


def _read(name: str) -> str:
    return files("graphmover.page").joinpath(name).read_text(encoding="utf-8")


def _sha256(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
