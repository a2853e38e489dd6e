"""Two graphs side by side, matched nodes in the same colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphmover._utils.messages import shortened
from graphmover.drawing.figures import GREY, Colour, colours_around, draw_graph, new_figure
from graphmover.drawing.layout import Floats, node_positions
from graphmover.drawing.molecules import are_molecules
from graphmover.graphs.graph import Graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What fits above one of the graphs.
_CHARACTERS = 50


def draw_pair(
    graphs: tuple[Graph, Graph],
    flows: Iterable[tuple[int, int, float]],
    unmatched: tuple[Floats, Floats],
    titles: tuple[str, str],
    *,
    title: str,
    molecules: bool | None = None,
) -> Figure:
    """Draw two graphs; ``flows`` are a node of the first, one of the second, and mass."""
    a, b = graphs
    are_drawn = are_molecules(graphs, molecules)
    colours = colours_around(node_positions(a, molecules=are_drawn[0]))
    of_a: list[dict[Colour, float]] = [{} for _ in range(a.n_nodes)]
    of_b: list[dict[Colour, float]] = [{} for _ in range(b.n_nodes)]
    for i, j, mass in flows:
        for slices in (of_a[i], of_b[j]):
            slices[colours[i]] = slices.get(colours[i], 0.0) + mass
    for pies, rest in ((of_a, unmatched[0]), (of_b, unmatched[1])):
        for pie, mass in zip(pies, rest.tolist(), strict=True):
            if mass > 0:
                pie[GREY] = mass
    figure = new_figure(9.0, 4.8)
    figure.suptitle(title, fontsize=11)
    for axes, graph, pies, name, is_one in zip(
        figure.subplots(1, 2), graphs, (of_a, of_b), titles, are_drawn, strict=True
    ):
        slices_of = [list(pie.items()) for pie in pies]
        draw_graph(axes, graph, slices_of, title=shortened(name, _CHARACTERS), molecules=is_one)
    return figure
