"""Random graphs as parts of the training graphs they were drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import shortened
from graphmover.drawing.figures import Colour, draw_graph, new_figure
from graphmover.drawing.molecules import are_molecules
from graphmover.graphs.graph import Graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The colour of nodes that belong to a random graph.
_DRAWN: Colour = (0.98, 0.72, 0.25)

_ACROSS = 3

#: What fits above one of them.
_CHARACTERS = 34


def draw_anchors(
    anchors: Sequence[tuple[Graph, NDArray[np.int64], str, str]],
    *,
    title: str,
    molecules: bool | None = None,
) -> Figure:
    """Draw graphs of which some nodes are marked, each below its name and a few words."""
    n_rows = -(-len(anchors) // _ACROSS)
    n_columns = min(len(anchors), _ACROSS)
    figure = new_figure(3.2 * n_columns, 3.4 * n_rows)
    figure.suptitle(title.replace("$", r"\$"), fontsize=12, weight="bold")
    places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in places:
        axes.set_axis_off()
    are_drawn = are_molecules((graph for graph, *_ in anchors), molecules)
    for axes, anchor, is_one in zip(places, anchors, are_drawn, strict=False):
        graph, nodes, name, words = anchor
        marked = set(nodes.tolist())
        pies = [[(_DRAWN, 1.0)] if node in marked else [] for node in range(graph.n_nodes)]
        draw_graph(
            axes, graph, pies, title=f"{shortened(name, _CHARACTERS)}\n{words}", molecules=is_one
        )
    return figure
