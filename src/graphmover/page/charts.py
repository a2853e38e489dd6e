"""The charts of a page, by Bokeh, as JSON for its own library in the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import shortened
from graphmover.evaluation.target import Target

Floats = NDArray[np.float64]

#: Nearly Okabe and Ito's colours, which colour-blind people can tell apart: no black, lighter blue.
_CLASSES = ["#2f86c9", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b8a800"]

#: The shade of a confusion matrix: dark enough for white text.
_SHADE = "#1b66a5"

#: A class name on an axis has at most this many characters, and fewer on two axes of one chart.
_MOST_CHARACTERS = 24
_FEWER_CHARACTERS = 16

#: Names of up to this many characters stand side by side below a confusion matrix on a phone.
_SIDE_BY_SIDE = 40

#: Cells of a confusion matrix with a larger share are dark enough for white text.
_DARK_SHARE = 0.8

#: The outline of points whose colours go from dark to light: visible on both.
_OUTLINE = "#808890"

#: The sizes of graphs are shown in about this many equal intervals, unless the largest is this many
#: times the median.
_INTERVALS = 24
_MOST_MEDIANS = 12

#: Fewer points than these hardly hide each other.
_FEW_POINTS = 1_000

#: More classes make no readable confusion matrix or legend.
MOST_CLASSES = 30


def bokeh_library() -> list[str]:
    """Return the sources of Bokeh's library."""
    _require_bokeh()
    from bokeh.resources import Resources

    return list(Resources(mode="inline", components=["bokeh"], minified=True).js_raw)


def _require_bokeh() -> None:
    try:
        import bokeh  # noqa: F401
    except ImportError:
        raise ImportError("a report needs Bokeh: pip install 'graphmover[report]'") from None


def colours_of(target: Target | None) -> tuple[list[str], NDArray[Any] | None]:
    """Return a palette, and for each graph the number of its colour; None: all are alike."""
    from bokeh.palettes import Turbo256, Viridis256

    if target is None:
        return [_CLASSES[0]], None
    if len(target.classes):
        n_classes = len(target.classes)
        palette = _CLASSES[:n_classes]
        if n_classes > len(_CLASSES):
            places = np.linspace(12, 243, n_classes).astype(int)
            palette = [Turbo256[place] for place in places]
        return palette, target.values
    palette = list(Viridis256[40:245])
    low, high = float(target.values.min()), float(target.values.max())
    shares = (target.values - low) / (high - low or 1.0)
    return palette, np.rint(shares * (len(palette) - 1)).astype(np.int64)


def map_chart(places: Floats, target: Target | None) -> Any:
    """Return the map: a point per graph."""
    from bokeh.models import ColumnDataSource, HoverTool, TapTool

    palette, codes = colours_of(target)
    columns = {"x": places[:, 0].astype(np.float32), "y": places[:, 1].astype(np.float32)}
    colour: Any = palette[0]
    if codes is not None:
        from bokeh.transform import linear_cmap

        # One number per point: 20,000 colours in words would take a megabyte.
        columns["colour"] = codes.astype(np.float32)
        colour = linear_cmap("colour", palette, -0.5, len(palette) - 0.5)
    source = ColumnDataSource(columns, name="map-source")
    figure = _figure(name="map", height=520, tools="pan,wheel_zoom,box_zoom,reset,save")
    size = float(np.clip(160 / np.sqrt(len(places)), 4, 10))
    is_ramp = target is not None and not len(target.classes)
    points = figure.scatter(
        "x",
        "y",
        source=source,
        size=size,
        color=colour,
        alpha=0.85,
        line_color=_OUTLINE if is_ramp else None,
        line_width=0.1 * size,
        nonselection_alpha=0.7,
        nonselection_color=colour,
        nonselection_line_color=_OUTLINE if is_ramp else None,
        selection_color=colour,
        selection_line_color="#e0243a",
        selection_line_width=3,
        selection_alpha=1.0,
    )
    chosen: Any = points.selection_glyph
    chosen.size = max(9.0, size)
    figure.add_tools(HoverTool(renderers=[points], tooltips=None), TapTool(renderers=[points]))
    figure.toolbar.active_scroll = figure.select_one({"type": _wheel_zoom()})
    figure.axis.visible = False
    figure.grid.visible = False
    return figure


def _wheel_zoom() -> Any:
    from bokeh.models import WheelZoomTool

    return WheelZoomTool


def bars(title: str, names: list[str], values: list[int]) -> Any:
    """Return horizontal or vertical bars, as there is room for names."""
    names = _distinct(names)
    across = len(names) > 12 or max(map(len, names), default=0) > 10
    if across:
        height = max(120, 22 * len(names) + 60)
        figure = _figure(title=title, height=height, y_range=names[::-1], tools="")
        figure.hbar(y=names, right=values, height=0.75, color=_CLASSES[0])
        figure.x_range.start = 0
        figure.xaxis.ticker = _integers()
        figure.ygrid.visible = False
    else:
        figure = _figure(title=title, height=230, x_range=names, tools="")
        figure.vbar(x=names, top=values, width=0.8, color=_CLASSES[0])
        _of_counts(figure)
    return figure


def sizes_chart(node_counts: NDArray[np.int64], ranges: dict[str, int]) -> Any:
    """Return how many graphs have how many nodes.

    Intervals are equal, unless a few graphs are much larger than the others: then they double, and
    ``ranges`` counts the graphs in each.
    """
    title = "Nodes per graph"
    low, high = int(node_counts.min(initial=0)), int(node_counts.max(initial=0))
    if not len(node_counts) or high > _MOST_MEDIANS * max(1.0, float(np.median(node_counts))):
        return bars(title, list(ranges), list(ranges.values()))
    low = int(node_counts.min())
    width = -(-(high - low + 1) // _INTERVALS)
    counts = np.bincount((node_counts - low) // width)
    starts = low + width * np.arange(len(counts))
    figure = _figure(title=title, height=230, tools="")
    middles = starts + (width - 1) / 2
    figure.vbar(x=middles, top=counts, width=0.9 * width, color=_CLASSES[0])
    figure.xaxis.ticker = _integers()
    _of_counts(figure)
    return figure


def confusion_chart(target: Target, predicted: NDArray[Any]) -> Any:
    """Return the confusion matrix: rows are classes, columns what was predicted."""
    n_classes = len(target.classes)
    counts = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(counts, (target.values, predicted), 1)
    names = _distinct([str(name) for name in target.classes.tolist()], _FEWER_CHARACTERS)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows, columns = np.indices(counts.shape).reshape(2, -1)
    longest = max(map(len, names))
    is_wide = n_classes * (2 + longest) > _SIDE_BY_SIDE
    figure = _figure(
        title="Confusion matrix",
        height=max(240, 34 * n_classes + 110) + (5 * longest if is_wide else 0),
        x_range=names,
        y_range=names[::-1],
        tools="",
    )
    figure.xaxis.axis_label, figure.yaxis.axis_label = "predicted", "target"
    figure.xaxis.major_label_orientation = 0.8 if is_wide else "horizontal"
    figure.grid.visible = False
    places = {"x": [names[c] for c in columns], "y": [names[r] for r in rows]}
    flat = shares[rows, columns]
    figure.rect(**places, width=0.97, height=0.95, color=_SHADE, alpha=0.06 + 0.9 * flat)
    is_dark = flat > _DARK_SHARE
    for chosen, colour in ((is_dark, "#ffffff"), (~is_dark, _CLASSES[0])):
        drawn = figure.text(
            x=[names[c] for c in columns[chosen]],
            y=[names[r] for r in rows[chosen]],
            text=[f"{count:,}" if count else "" for count in counts[rows, columns][chosen]],
            text_align="center",
            text_baseline="middle",
            text_font_size="12px",
            text_color=colour,
        )
    drawn.glyph.name = "in-colour-of-text"  # the script knows which one that is
    return figure


def residual_chart(target: Target, predicted: Floats) -> Any:
    """Return predicted against true values, with the diagonal on which they are equal."""
    figure = _figure(title="Predicted and true values", height=380, tools="pan,wheel_zoom,reset")
    both = np.concatenate([target.values, predicted])
    ends = [float(both.min()), float(both.max())]
    figure.line(ends, ends, line_color="#e0243a", line_dash="dashed")
    figure.scatter(
        target.values.astype(np.float32),
        predicted.astype(np.float32),
        size=6,
        color=_CLASSES[0],
        alpha=0.85 if len(predicted) < _FEW_POINTS else 0.5,
        line_color=None,
    )
    figure.toolbar.active_drag = None  # so that a finger scrolls the page
    figure.xaxis.axis_label, figure.yaxis.axis_label = "target", "predicted"
    _plain_numbers(figure.xaxis, figure.yaxis)
    figure.xaxis.ticker.desired_num_ticks = 4  # their numbers are side by side on a phone
    return figure


def residual_histogram(errors: Floats) -> Any:
    """Return how often predictions miss by how much."""
    counts, edges = np.histogram(errors, bins="auto" if len(errors) < 1000 else 40)
    figure = _figure(title="Residuals: predicted less true", height=230, tools="")
    figure.quad(left=edges[:-1], right=edges[1:], bottom=0, top=counts, color=_CLASSES[0])
    _of_counts(figure)
    _plain_numbers(figure.xaxis)
    return figure


def _figure(**options: Any) -> Any:
    from bokeh.plotting import figure

    made = figure(sizing_mode="stretch_width", **options)
    made.toolbar.logo = None
    if not options.get("tools"):
        made.toolbar_location = None
    title: Any = made.title
    title.text_font_size = "13px"
    made.background_fill_color = made.border_fill_color = None
    return made


def _of_counts(figure: Any) -> None:
    """Count upwards from 0 in integers; charts below each other begin at the same place."""
    figure.y_range.start = 0
    figure.yaxis.ticker = _integers()
    figure.xgrid.visible = False
    figure.min_border_left = 56


def _plain_numbers(*axes: Any) -> None:
    """Write a hundred thousand without an exponent."""
    for axis in axes:
        axis.formatter.power_limit_high = 7


def _integers() -> Any:
    from bokeh.models import BasicTicker

    return BasicTicker(min_interval=1, num_minor_ticks=0)


def _distinct(names: list[str], most: int = _MOST_CHARACTERS) -> list[str]:
    """Return short names of which no two are the same, and none is empty."""
    seen: set[str] = set()
    short = []
    for name in names:
        cut = shortened(name, most)
        unique, copy = cut or "(empty)", 2
        while unique in seen:
            unique, copy = f"{cut} ({copy})", copy + 1
        seen.add(unique)
        short.append(unique)
    return short
