"""Warnings about graphs without nodes, with unknown labels, or with data that is not used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import warn
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.registry import NODE_EMBEDDINGS, named_blocks, text_of
from graphmover.parameters import PARAMETERS

Floats = NDArray[np.float64]


#: In all warnings of such graphs.
EMPTY = "have no nodes"


def warn_about_empty_graphs(batch: GraphBatch) -> None:
    """Warn once if graphs have no nodes."""
    empty = np.flatnonzero(batch.node_counts == 0)
    if len(empty):
        warn(
            f"{len(empty)} of {len(batch)} graphs {EMPTY} (the first is graph {empty[0]}): they "
            f"are infinitely far from everything and embedded as zeros"
        )


def warn_about_equal_graphs(views: Sequence[str] = ()) -> None:
    """Warn that training graphs cannot be told apart: by these views, or by all."""
    if views:
        named = f"the view {views[0]}" if len(views) == 1 else f"the views {', '.join(views)}"
        warn(f"all training graphs look the same to {named}, whose columns are zeros for them")
    else:
        warn(
            "all training graphs look the same to the model, so all their vectors are zeros: fit "
            "to graphs that differ"
        )


#: What graphs may carry, and the node embedding method that uses it.
_USED_BY = {
    "node attributes": "attributes",
    "node labels": "labels",
    "edge labels": "edges",
    "edge attributes": "edges",
}

#: What the default embedding uses. The structure it always uses.
_USED_BY_DEFAULT = ("node labels", "edge weights")


def warn_about_unused(batch: GraphBatch, parameters: Mapping[str, object]) -> None:
    """Warn once if graphs carry what the parameters ignore without having been asked to."""
    carried = [what for what in _USED_BY if carries(batch, what)]
    chosen = parameters["node_embedding"]
    if chosen == PARAMETERS["node_embedding"].default:
        unused = not_used_by_default(carried)
        if parameters.get("use_edge_labels", False) is not False:
            unused = [what for what in unused if what != "edge labels"]
        if unused == ["edge labels"] and parameters["wl_iterations"]:
            _warn_of_unrefined_edge_labels()
        elif unused:
            warn(
                f'the graphs carry {" and ".join(unused)}, which node_embedding="{chosen}" does '
                f'not use: node_embedding="{embedding_of(carried)}" does'
            )
    elif chosen is None and "edge labels" in carried and parameters["use_edge_labels"] is False:
        _warn_of_unrefined_edge_labels()
    elif "node labels" in carried and _leaves_labels_out(parameters):
        warn(
            f'the graphs carry node labels, which node_embedding="{text_of(chosen)}" does not '
            f'use: add "labels" to it, or say use_node_labels=True or use_node_labels=False'
        )


def not_used_by_default(carried: Iterable[str]) -> list[str]:
    """Return what the default embedding ignores of what graphs carry."""
    return [what for what in carried if what not in _USED_BY_DEFAULT]


def embedding_of(carried: Iterable[str]) -> str:
    """Return the node embedding that uses all that graphs carry, and their structure."""
    carried = set(carried)
    names = [name for what, name in _USED_BY.items() if what in carried]
    return ",".join([*dict.fromkeys(names), "structure"])


def carries(batch: GraphBatch, what: str) -> bool:
    """Return whether graphs have something, such as "node labels"."""
    values = getattr(batch, what.replace(" ", "_"))
    return values is not None and values.size > 0


def _warn_of_unrefined_edge_labels() -> None:
    warn(
        "the graphs carry edge labels, which use_edge_labels=False does not use: "
        'use_edge_labels="auto" does, with wl_iterations=1 or more'
    )


def _leaves_labels_out(parameters: Mapping[str, object]) -> bool:
    """Tell whether "auto" ignores labels, and nothing else uses them."""
    chosen = parameters["node_embedding"]
    if chosen is None or callable(chosen):
        return False
    if parameters["use_node_labels"] != "auto" or parameters["wl_iterations"]:
        return False
    names = [name for name, _ in named_blocks(chosen)]
    return "labels" not in names and any(NODE_EMBEDDINGS[name].is_feature for name in names)


class UnknownLabels:
    """Counts graphs none of whose labels the model knows, over any number of batches.

    They are equally far from all random graphs, which their rows show.
    """

    def __init__(self, *, uses_node_labels: bool, wl_iterations: int) -> None:
        self._uses_node_labels, self._wl_iterations = uses_node_labels, wl_iterations
        self.n_graphs = self.n_unknown = 0

    def add(self, rows: Floats) -> None:
        """Look at rows of distances or features."""
        self.n_graphs += len(rows)
        if not self._uses_node_labels or rows.shape[1] < 2:
            return
        some = np.flatnonzero(rows[:, 0] == rows[:, 1])  # so that few rows are read in full
        some = some[np.isfinite(rows[some, 0]) & (rows[some, 0] > 0)]
        self.n_unknown += int((rows[some] == rows[some, :1]).all(axis=1).sum())

    def warn(self) -> None:
        """Warn once if there were such graphs."""
        n_unknown, n_graphs = self.n_unknown, self.n_graphs
        # Refined labels are so many that this happens to some graphs, but not to all of many.
        if not n_unknown or (self._wl_iterations and not 10 <= n_graphs == n_unknown):
            return
        warn(
            f"{n_unknown} of {n_graphs} graphs have no node label in common with any random graph: "
            f"their labels tell nothing about them. Are these of the kind that the model was "
            f"fitted with, numbers or strings?"
        )


def warn_about_zero_rows(n_empty: int) -> None:
    """Warn once, at the end of a long run, if graphs had no nodes."""
    if n_empty:
        graphs = "graph has no nodes and is" if n_empty == 1 else "graphs have no nodes and are"
        warn(f"{n_empty} {graphs} embedded as zeros")


def warn_of_notes(notes: Iterable[str]) -> None:
    """Warn of what a result says about itself, such as classes that are too rare."""
    for note in notes:
        warn(note)
