"""The sections of a page, its charts, and what its script needs."""

from __future__ import annotations

import platform
import time
from typing import Any

import numpy as np

from graphmover import __version__
from graphmover.datasets.summary import Summary
from graphmover.evaluation.target import Target
from graphmover.page import charts
from graphmover.page.content import Content, Work
from graphmover.page.html import chart_place, escaped, note, page, table
from graphmover.page.packed import packed_arrays, smallest_unsigned
from graphmover.page.source import Data

#: Of each class, this many anchors are shown, and of this many classes.
_ANCHORS = 6
_ANCHOR_CLASSES = 12

#: Ids are cut to this many characters.
ID_CHARACTERS = 200


def page_of(
    work: Work, content: Content, title: str | None, parameters: list[tuple[str, Any]]
) -> str:
    """Return the page."""
    data, target = work.data, work.data.target
    shown: dict[str, Any] = {"chart-map": charts.map_chart(content.places, target)}
    node_counts = data.dataset.graphs.node_counts
    shown["chart-nodes"] = charts.sizes_chart(node_counts, content.summary.node_histogram)
    if target is not None and 0 < len(target.classes) <= charts.MOST_CLASSES:
        counts = np.bincount(target.values, minlength=len(target.classes)).tolist()
        names = map(str, target.classes.tolist())
        shown["chart-classes"] = charts.bars("Graphs per class", list(names), counts)
    data_charts = "".join(chart_place(name) for name in shown if name != "chart-map")
    name = title if title is not None else data.dataset.name or "Graphs"
    n_graphs = len(data.dataset)
    sampled = f", a random sample of {data.n_all:,}" if data.n_all > n_graphs else ""
    anchors = _anchors(content, target)
    texts = {
        "title": escaped(name),
        "subtitle": escaped(f"{n_graphs:,} graph{'s' if n_graphs != 1 else ''}{sampled}"),
        "summary": _summary_table(content.summary, target),
        "data_charts": data_charts,
        "map_words": escaped(content.map_words),
        "scores": _scores(data, content, shown),
        "anchors": _anchor_words(data, content, anchors),
        "made": _made(work, content, parameters),
    }
    arrays, meta = _arrays(work, content), _meta(work, content) | {"anchors": anchors}
    meta["arrays"], packed = packed_arrays(arrays)
    return page(texts, meta, packed, shown)


def _summary_table(summary: Summary, target: Target | None) -> str:
    def spread(values: Any) -> str:
        if values.least == values.most:
            return f"{values.total:,} in all; {values.most:,} in each graph"
        return (
            f"{values.total:,} in all; {values.least:,} to {values.most:,}, mean {values.mean:.1f}"
        )

    def amount(value: int | bool) -> str:
        return "none" if not value else "yes" if value is True else f"{value:,}"

    rows: list[tuple[str, object]] = [
        ("Graphs", f"{summary.graphs:,}"),
        ("Nodes", spread(summary.nodes)),
        ("Edges", spread(summary.edges)),
        ("Components", spread(summary.components)),
        ("Node labels", amount(summary.node_labels)),
        ("Node attributes", amount(summary.node_attributes)),
        ("Edge labels", amount(summary.edge_labels)),
        ("Edge attributes", amount(summary.edge_attributes)),
        ("Edge weights", amount(summary.edge_weights)),
        ("Ids", amount(summary.ids)),
    ]
    if words := _target_in_words(summary, target):
        rows.append(("Target", words))
    return table(rows)


def _target_in_words(summary: Summary, target: Target | None) -> str:
    """Say what the target is: as it is predicted, or else as it was read."""
    if target is not None and len(target.classes):
        return f"{len(target.classes)} classes"
    if target is not None:
        return f"numbers from {target.values.min():g} to {target.values.max():g}"
    read = summary.target
    if read is None:
        return ""
    if "classes" in read:
        return f"{len(read['classes'])} classes"
    return f"numbers from {read['least']:g} to {read['most']:g}"


def _scores(data: Data, content: Content, shown: dict[str, Any]) -> str:
    predictions, target = content.predictions, data.target
    if target is None:
        return note(data.no_target)
    if predictions is None:
        return note("No predictions were asked for (n_folds=0).")
    text = table(predictions.scores.items()) + "".join(note(one) for one in target.notes)
    if len(target.classes) > charts.MOST_CLASSES:
        hint = ' If they are values, pass task="regression".' if _are_numbers(target) else ""
        words = f"{len(target.classes)} classes are too many for a confusion matrix.{hint}"
        return text + note(words)
    if len(target.classes):
        shown["chart-scores"] = charts.confusion_chart(target, predictions.values)
        shade = '<p class="muted">The stronger the colour, the larger the share of the row.</p>'
        return text + chart_place("chart-scores") + shade
    shown["chart-scores"] = charts.residual_chart(target, predictions.values)
    shown["chart-residuals"] = charts.residual_histogram(predictions.values - target.values)
    both = chart_place("chart-scores") + chart_place("chart-residuals")
    return text + f'<div class="columns">{both}</div>'


def _are_numbers(target: Target) -> bool:
    return target.classes.dtype.kind in "iuf"


def _anchor_words(data: Data, content: Content, anchors: list[dict[str, Any]]) -> str:
    if content.anchors is None:
        return note(data.no_target)
    if not anchors:
        return note("No random graph that matters comes from a graph that is drawn.")
    words = (
        '<p class="muted">Each column measures closeness to one random graph, drawn from these '
        "graphs. A linear model over all graphs gives each a weight; shown are those that favour "
        "a class most, their nodes in orange, with their weight times the standard deviation of "
        "their column.</p>"
    )
    return words + '<div id="anchors"></div>'


def _made(work: Work, content: Content, parameters: list[tuple[str, Any]]) -> str:
    import bokeh
    import sklearn

    seconds = ", ".join(f"{name} {value:.1f}" for name, value in work.steps.seconds.items())
    versions = (
        f"graphmover {__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"Bokeh {bokeh.__version__}, Python {platform.python_version()}"
    )
    views = "; ".join(f"{name}: {sees}" if sees else name for name, sees in content.views)
    rows = [
        ("Versions", versions),
        ("Written", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())),
        ("Views", views),
        ("Parameters", ", ".join(f"{name}={value!r}" for name, value in parameters)),
        ("Seconds", seconds),
    ]
    return table(rows)


def _arrays(work: Work, content: Content) -> dict[str, Any]:
    graphs, target = work.graphs, work.data.target
    near = content.neighbours
    arrays = content.drawings.arrays()
    sizes = np.stack([graphs.node_counts, graphs.edge_counts], axis=1)
    arrays |= {
        "sizes": smallest_unsigned(sizes),
        "neighbours": near.indices.astype(np.int32),
        "distances": near.distances.astype(np.float32),
        "parts": near.parts.astype(np.float32),
        "match_offsets": near.match_offsets.astype(np.uint32),
        "matches": near.matches.astype(np.uint8),
    }
    if target is not None:
        kind = np.int32 if len(target.classes) else np.float32
        arrays["target"] = target.values.astype(kind)
        if content.predictions is not None:
            arrays["predicted"] = content.predictions.values.astype(kind)
    return arrays


def _meta(work: Work, content: Content) -> dict[str, Any]:
    graphs, target = work.graphs, work.data.target
    palette, _ = charts.colours_of(target)
    described: dict[str, Any] | None = None
    if target is not None and len(target.classes):
        names = [str(name) for name in target.classes.tolist()]
        few = len(names) <= charts.MOST_CLASSES
        described = {"classes": names, "colours": palette if few else []}
    elif target is not None:
        ends = {"least": float(target.values.min()), "most": float(target.values.max())}
        described = {"colours": palette[::23], **ends}
    return {
        "n_graphs": len(graphs),
        "n_neighbors": content.neighbours.indices.shape[1],
        "kinds": content.neighbours.kinds,
        "ids": None if graphs.ids is None else [_short(name) for name in graphs.ids.tolist()],
        "label_names": content.drawings.label_names,
        "target": described,
        "first": int(np.flatnonzero(graphs.node_counts)[0]),
    }


def _short(name: Any) -> Any:
    """Cut an id that would fill the page."""
    is_long = isinstance(name, str) and len(name) > ID_CHARACTERS
    return name[: ID_CHARACTERS - 1] + "…" if is_long else name


def _anchors(content: Content, target: Target | None) -> list[dict[str, Any]]:
    """Return the anchors that favour each class, or higher and lower values, as far as drawn."""
    if content.anchors is None or target is None:
        return []
    names, weights, drawn = target.classes.tolist(), content.anchors, content.drawings.is_drawn
    if names:
        groups = [
            (f"Evidence for class {names[code]}", weights.best(code, _ANCHORS, drawn))
            for code in weights.targets[:_ANCHOR_CLASSES]
        ]
    else:
        (only,) = weights.targets
        groups = [
            (title, weights.best(only, _ANCHORS, drawn, against=against))
            for title, against in (("For a higher value", False), ("For a lower value", True))
        ]
    return [{"title": title, "anchors": found} for title, found in groups if found]
