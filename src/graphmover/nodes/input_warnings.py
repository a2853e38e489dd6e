"""Warnings about graphs without nodes, with unknown labels, or with data that is not used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import warn
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import NODE_EMBEDDINGS, named_blocks, text_of

Floats = NDArray[np.float64]


#: Part of every warning about graphs without nodes.
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


#: What graphs may carry beside their edges, and the node embedding method that uses it.
CARRIED = {
    "node attributes": "attributes",
    "node labels": "labels",
    "edge weights": "structure",
    "edge labels": "edges",
    "edge attributes": "edges",
}


def warn_about_unused(
    batch: GraphBatch, parameters: Mapping[str, Any], *, given_as: str = "{}"
) -> None:
    """Warn once if graphs carry what an embedding with these parameters ignores.

    ``use_node_labels=False`` asks for labels to be ignored. What a callable uses cannot be known.
    ``given_as`` says how parameters reach the embedding, if the caller does not take them itself.
    """
    chosen = parameters["node_embedding"]
    unused = [] if callable(chosen) else unused_by(parameters, batch)
    if not parameters["use_node_labels"]:
        unused = [what for what in unused if what != "node labels"]
    refines = parameters["wl_iterations"] or chosen is None
    if unused == ["edge labels"] and refines:
        warn(
            "the graphs carry edge labels, which use_edge_labels=False does not use: "
            'use_edge_labels="auto" does, with wl_iterations=1 or more'
        )
    elif unused == ["node labels"] and _leaves_labels_out(parameters):
        warn(
            f'the graphs carry node labels, which node_embedding="{text_of(chosen)}" does not '
            f'use: add "labels" to it, or set use_node_labels=True or use_node_labels=False'
        )
    elif unused == ["node labels"]:
        warn(
            "the graphs carry node labels, which points drawn uniformly do not have: "
            'sampling="anchor" uses them, and use_node_labels=False ignores them'
        )
    elif unused:
        named = None if chosen is None else f'"{text_of(chosen)}"'
        carried = [what for what in CARRIED if carries(batch, what)]
        smoothing = ", smoothing=1" if "edge weights" in unused else ""
        remedy = f'node_embedding="{embedding_of(carried)}"{smoothing}'
        warn(
            f"the graphs carry {_listed(unused)}, which node_embedding={named} does not use: "
            f"{given_as.format(remedy)} does"
        )


def warn_about_unused_by_all(batch: GraphBatch, views: Iterable[Mapping[str, Any]]) -> None:
    """Warn once if graphs carry what no embedding of these parameters uses."""
    unused = [what for what in CARRIED if carries(batch, what)]
    for parameters in views:
        if callable(parameters["node_embedding"]):
            return
        ignored = unused_by(parameters, batch)
        unused = [what for what in unused if what in ignored]
    if unused:
        warn(f'the graphs carry {_listed(unused)}, which no view uses: views="auto" does')


def unused_by(parameters: Mapping[str, Any], batch: GraphBatch) -> list[str]:
    """Return what graphs carry and an embedding with these parameters does not use."""
    recipe = NodeRecipe.of_parameters(parameters)
    recipe = recipe.decided_for(batch, can_carry_labels=parameters["sampling"] == "anchor")
    used = {
        "node labels": recipe.use_node_labels,
        "edge labels": recipe.use_edge_labels and recipe.wl_iterations > 0,
        "edge weights": recipe.smoothing > 0 or recipe.node_mass == "degree",
    }
    if recipe.node_embedding is not None:
        for name, _ in named_blocks(recipe.node_embedding):
            used |= dict.fromkeys(NODE_EMBEDDINGS[name].uses, True)
    for kind, is_read in zip(("node", "edge"), recipe.read, strict=True):
        if is_read:  # attributes stand in for labels
            used[f"{kind} attributes"] = used.get(f"{kind} attributes") or used[f"{kind} labels"]
            used[f"{kind} labels"] = False
    return [what for what in CARRIED if carries(batch, what) and not used.get(what)]


def embedding_of(carried: Iterable[str]) -> str:
    """Return the node embedding that uses all that graphs carry, and their structure."""
    carried = set(carried) - {"edge weights"}
    names = [name for what, name in CARRIED.items() if what in carried]
    return ",".join([*dict.fromkeys(names), "structure"])


def carries(batch: GraphBatch, what: str) -> bool:
    """Return whether graphs have, say, "node labels"; equal attributes do not count."""
    values = getattr(batch, what.replace(" ", "_"))
    if values is None or not values.size:
        return False
    return not what.endswith("attributes") or bool((values != values[0]).any())


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _leaves_labels_out(parameters: Mapping[str, Any]) -> bool:
    """Tell whether "auto" ignores labels because columns tell nodes apart already."""
    return bool(parameters["use_node_labels"] == "auto" and parameters["sampling"] == "anchor")


#: Labels are compared for so many nodes, neighbours and features at a time, and a graph more.
_PIECE = 2**17


class UnknownLabels:
    """Counts graphs none of whose labels the model knows, over any number of batches.

    Such graphs are equally far from all random graphs. Labels are compared only for graphs whose
    rows show that.

    Parameters
    ----------
    uses_node_labels : bool
    wl_iterations : int
        How often labels are refined: refined labels are often unknown.
    among : str
        Where the labels are looked up, in words.
    """

    def __init__(
        self, *, uses_node_labels: bool, wl_iterations: int, among: str = "any random graph"
    ) -> None:
        self._uses_node_labels, self._wl_iterations = uses_node_labels, wl_iterations
        self._among = among
        self.n_graphs = self.n_unknown = 0

    def count(self, n_graphs: int, n_unknown: int) -> None:
        """Add the counts of graphs that were checked elsewhere."""
        self.n_graphs += n_graphs
        self.n_unknown += n_unknown if self._uses_node_labels else 0

    def add(self, rows: Floats, batch: GraphBatch, n_unknown: Callable[[GraphBatch], int]) -> None:
        """Check rows of distances or features; ``n_unknown`` compares the labels of graphs."""
        self.n_graphs += len(rows)
        if not self._uses_node_labels or rows.shape[1] < 2:
            return
        some = np.flatnonzero(rows[:, 0] == rows[:, 1])  # so that few rows are read in full
        some = some[np.isfinite(rows[some, 0]) & (rows[some, 0] > 0)]
        sizes = batch.node_counts[some] + np.diff(batch.indptr[batch.offsets])[some]
        pieces = np.cumsum(sizes + rows.shape[1]) // _PIECE
        for piece in np.split(some, np.flatnonzero(np.diff(pieces)) + 1):
            equal = piece[(rows[piece] == rows[piece, :1]).all(axis=1)]
            if len(equal):
                self.n_unknown += n_unknown(batch[equal])

    def warn(self) -> None:
        """Warn once if there were such graphs."""
        n_unknown, n_graphs = self.n_unknown, self.n_graphs
        # There are so many refined labels that this happens to some graphs, but not to all of many.
        if not n_unknown or (self._wl_iterations and not 10 <= n_graphs == n_unknown):
            return
        warn(
            f"{n_unknown} of {n_graphs} graphs have no node label in common with {self._among}, "
            f"so their labels say nothing about them. Do they have the type of the labels that the "
            f"model was fitted with, numbers or strings?"
        )


def warn_about_large_pair(n: int, m: int, n_bytes: int) -> None:
    """Warn that one transport problem between graphs of n and m nodes takes much memory."""
    warn(
        f"graphs of {n:,} and {m:,} nodes are among those that are searched: the exact distance of "
        f"one such pair takes up to {n_bytes / 1e9:.1f} GB in each thread, and seconds or more. "
        f"Labels at all depths have a closed form: embedding=gm.RandomGraphEmbedding("
        f'node_embedding=None, wl_iterations=3, wl_depths="all")'
    )


def warn_about_zero_rows(n_empty: int) -> None:
    """Warn once, at the end of a long run, if graphs had no nodes."""
    if n_empty:
        graphs = "graph has no nodes and is" if n_empty == 1 else "graphs have no nodes and are"
        warn(f"{n_empty} {graphs} embedded as zeros")


def warn_of_notes(notes: Iterable[str]) -> None:
    """Issue the notes of a result, such as one on classes that are too rare, as warnings."""
    for note in notes:
        warn(note)
