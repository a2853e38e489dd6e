"""Graphs as figures of Matplotlib: every node is a pie."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmover.drawing.layout import Floats, node_positions
from graphmover.drawing.molecules import molecule_of_graph, picture
from graphmover.graphs.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Colour = tuple[float, ...]

#: The slices of a node: colours and their shares. A node without slices is empty.
Pie = Sequence[tuple[Colour, float]]

#: The colour of what has no match, or does not matter.
GREY: Colour = (0.72, 0.72, 0.72)

_EDGE = "#8a8a8a"
_MOST_LABELLED = 60

#: The radius of a node is at most this, and this share of a short edge, unless that is less than
#: can be seen. Four fifths of the edges are longer.
_MOST_RADIUS = 0.11
_SHARE_OF_EDGE = 0.42
_LEAST_RADIUS = 0.02
_PIXELS = 700


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'graphmover[figures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def colours_around(positions: Floats) -> list[Colour]:
    """Return a colour for each place: hues go around the middle, so that neighbours are alike."""
    x, y = (positions - positions.mean(axis=0)).T
    order = np.argsort(np.arctan2(y, x), kind="stable")
    colours: list[Colour] = [GREY] * len(positions)
    for rank, node in enumerate(order.tolist()):
        lightness = 0.58 if rank % 2 else 0.74
        colours[node] = colorsys.hls_to_rgb(rank / len(positions), lightness, 0.78)
    return colours


def draw_graph(
    axes: Axes, graph: Graph, pies: Sequence[Pie], *, title: str = "", molecules: bool | None = None
) -> None:
    """Draw a graph into axes, every node as a pie."""
    axes.set_axis_off()
    axes.set_title(_plain(title), fontsize=10)
    molecule = molecule_of_graph(graph, molecules)
    if molecule is not None:
        shown = {
            node: [colour for colour, _ in pie] for node, pie in enumerate(pies) if len(pie) > 0
        }
        axes.imshow(picture(molecule, shown, _PIXELS))
        return
    positions = node_positions(graph, molecules=False)
    _draw_lines(axes, positions, graph)
    radius = _radius(positions, graph)
    for place, pie in zip(positions.tolist(), pies, strict=True):
        _draw_pie(axes, place, pie, radius)
    labels = graph.node_labels
    if labels is not None and graph.n_nodes <= _MOST_LABELLED:
        for (x, y), label in zip(positions.tolist(), labels.tolist(), strict=True):
            text = _plain(str(label)[:6])
            size = 80 * radius / max(1.0, len(text) / 2)
            axes.text(x, y, text, ha="center", va="center", fontsize=size, zorder=4)
    axes.set_aspect("equal")
    axes.set_xlim(-1.2, 1.2)
    axes.set_ylim(-1.2, 1.2)


def _radius(positions: Floats, graph: Graph) -> float:
    """Return how large nodes are: few large ones, and neighbours apart from each other."""
    radius: float = min(_MOST_RADIUS, 0.75 / max(1.0, graph.n_nodes) ** 0.65)
    if not graph.n_edges:
        return radius
    ends = positions[graph.edges]
    lengths = np.sort(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))
    return min(radius, max(_SHARE_OF_EDGE * float(lengths[len(lengths) // 5]), _LEAST_RADIUS))


def _draw_lines(axes: Axes, positions: Floats, graph: Graph) -> None:
    from matplotlib.collections import LineCollection

    lines: Any = positions[graph.edges]
    axes.add_collection(LineCollection(lines, colors=_EDGE, linewidths=1.0, zorder=1))


def _draw_pie(axes: Axes, place: list[float], pie: Pie, radius: float) -> None:
    from matplotlib.patches import Circle, Wedge

    x, y = place
    total, start = sum(share for _, share in pie), 90.0
    for colour, share in pie:
        end = start + 360.0 * share / total
        axes.add_patch(Wedge((x, y), radius, start, end, facecolor=colour, linewidth=0, zorder=2))
        start = end
    face = "none" if pie else "white"
    axes.add_patch(
        Circle((x, y), radius, facecolor=face, edgecolor="#444444", linewidth=0.6, zorder=3)
    )


def _plain(text: str) -> str:
    """Keep Matplotlib from reading a label or an id as mathematics."""
    return text.replace("$", r"\$")
