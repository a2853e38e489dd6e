"""Why two graphs are alike: an optimal plan between their nodes, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import is_integer, require_one_of
from graphmover.backends.fitted import DistancesToRandomGraphs, ground_of
from graphmover.explanations.costs import KINDS, Part, general_rule, split_costs
from graphmover.explanations.models import random_graph_as_graph, to_random_graphs
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.transport import transport_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alignment:
    """An optimal plan between the nodes of two graphs: what `explain` returns.

    Flow k moves the mass ``flow[k]`` from node ``nodes_a[k]`` of a to node ``nodes_b[k]`` of b, at
    the cost ``flow[k] * ground[k]``. The costs of all flows, and of mass of b without a match,
    add up to the distance.

    Attributes
    ----------
    distance : float
        The earth mover's distance.
    a, b : Graph
    nodes_a, nodes_b : ndarrays of shape (number of flows,)
    flow, ground : ndarrays of shape (number of flows,)
        The mass that is moved, as a share of all mass (of b's mass if counts are compared), and the
        distance between the two nodes.
    parts : dict of (name, kind) to ndarray of shape (number of flows,)
        What labels of each depth and each block of coordinates add to the cost of a flow.
    costs : dict of str to float
        The distance, split into "coordinates", "labels", "attributes", "edges" and "unmatched", as
        far as these exist.
    unmatched_a, unmatched_b : ndarrays, one entry per node
        Mass without a match, which exists only if counts are compared; that of a costs nothing.
    unmatched_cost : float
        The cost of a unit of b's mass without a match.

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs = gm.make_graph_families(20, random_state=0).graphs
    >>> embedding = gm.RandomGraphEmbedding(4, random_state=0).fit(graphs)
    >>> alignment = gm.explain(graphs[0], graphs[1], embedding)
    >>> abs(sum(alignment.costs.values()) - alignment.distance) < 1e-9
    True
    """

    distance: float
    a: Graph
    b: Graph
    nodes_a: Ints
    nodes_b: Ints
    flow: Floats
    ground: Floats
    parts: dict[Part, Floats]
    unmatched_a: Floats
    unmatched_b: Floats
    unmatched_cost: float
    names: tuple[str, str] = field(default=("a", "b"))

    @property
    def costs(self) -> dict[str, float]:
        """The distance, split by kind."""
        by_kind = {kind: float(values.sum()) for kind, values in self._by_kind().items()}
        if self.unmatched_b.any():
            by_kind["unmatched"] = float(self.unmatched_b.sum() * self.unmatched_cost)
        return by_kind

    def to_frame(self, *, detail: bool = False) -> Any:
        """Return a ``pandas.DataFrame`` with a row per flow, the most expensive first.

        Columns are ``a`` and ``b``, the nodes; ``a_label`` and ``b_label``, where nodes have
        labels; ``flow``; ``distance`` of the two nodes; ``cost``, flow times distance; and the
        parts of the cost. If counts are compared, mass without a match has rows in which ``a`` or
        ``b`` is missing. ``cost`` adds up to the distance.

        Parameters
        ----------
        detail : bool
            A column per block of coordinates and per depth of labels, instead of one per kind.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'graphmover[pandas]'") from None
        rest_a, rest_b = np.flatnonzero(self.unmatched_a), np.flatnonzero(self.unmatched_b)
        n_a, n_b = len(rest_a), len(rest_b)
        a, b = _missing(self.nodes_a, rest_a, n_b), _missing(self.nodes_b, n_a, rest_b)
        columns: dict[str, Any] = {
            "a": pd.array(a, dtype="Int64"),
            "b": pd.array(b, dtype="Int64"),
        }
        for name, nodes, graph in (("a_label", a, self.a), ("b_label", b, self.b)):
            if graph.node_labels is not None:
                labels = graph.node_labels.tolist()
                columns[name] = pd.Series(
                    [None if node is None else labels[node] for node in nodes], dtype=object
                )
        lost = self.unmatched_b[rest_b] * self.unmatched_cost
        columns["flow"] = np.concatenate(
            [self.flow, self.unmatched_a[rest_a], self.unmatched_b[rest_b]]
        )
        columns["distance"] = np.concatenate(
            [self.ground, np.zeros(n_a), np.full(n_b, self.unmatched_cost)]
        )
        columns["cost"] = np.concatenate([self.flow * self.ground, np.zeros(n_a), lost])
        if detail:
            parts = {part.name: values for part, values in self.parts.items()}
        else:
            parts = self._by_kind()
        for name, values in parts.items():
            columns[name] = np.concatenate([values, np.zeros(n_a + n_b)])
        if n_a or n_b:
            columns["unmatched"] = np.concatenate([np.zeros(len(self.flow) + n_a), lost])
        frame = pd.DataFrame(columns)
        return frame.sort_values("cost", ascending=False, kind="stable", ignore_index=True)

    def plot(self, *, molecules: bool | None = None) -> Figure:
        """Draw both graphs side by side, matched nodes in the same colours.

        A node is a pie of its flows: every node of a has a colour of its own, and a node of b has
        the colours of those it is matched with. Mass without a match is grey, and a node without
        mass is empty.

        Parameters
        ----------
        molecules : bool or None
            Draw molecules with RDKit. None: if it is installed, node labels look like elements, and
            edge labels like bond orders.

        Returns
        -------
        matplotlib.figure.Figure
            ``figure.savefig("alignment.png")`` saves it.
        """
        from graphmover.drawing.pairs import draw_pair

        return draw_pair(
            (self.a, self.b),
            zip(self.nodes_a.tolist(), self.nodes_b.tolist(), self.flow.tolist(), strict=True),
            (self.unmatched_a, self.unmatched_b),
            self.names,
            title=f"distance {self.distance:.4g}: {self._costs_in_words()}",
            molecules=molecules,
        )

    def _by_kind(self) -> dict[str, Floats]:
        """Return the parts of each flow's cost by kind."""
        found: dict[str, Floats] = {}
        for kind in KINDS:
            same = [values for part, values in self.parts.items() if part.kind == kind]
            if same:
                found[kind] = np.sum(same, axis=0)
        return found

    def _costs_in_words(self) -> str:
        costs = {kind: cost for kind, cost in self.costs.items() if cost} or self.costs
        return ", ".join(f"{kind} {cost:.4g}" for kind, cost in costs.items())

    def __repr__(self) -> str:
        n = len(self.flow)
        return f"Alignment(distance={self.distance:.4g}: {self._costs_in_words()}; {n} flows)"


def explain(
    a: Any, b: Any, embedding: Any, *, view: str | None = None, training_graphs: Any = None
) -> Alignment:
    """Explain the distance between two graphs: which nodes are matched, and what it costs.

    The plan is optimal; if there are several optimal plans, it is one of them. Each pair's cost is
    split into what coordinates, labels and attributes add to it (docs/explain.md).

    Parameters
    ----------
    a : a graph
        A `Graph`, or anything `as_graph_batch` takes as one graph.
    b : a graph, or int
        An integer is the random graph of that number: the distance is then the entry of
        ``embedding.distances(a)`` in that column.
    embedding : fitted RandomGraphEmbedding, GraphVectorizer, NearestGraphs, ...
        Says how nodes are embedded and compared; also `RandomGraphDistances`, or a pipeline that
        begins with one of these.
    view : str, optional
        The view of a `GraphVectorizer`; the first unless given.
    training_graphs : GraphBatch or anything `as_graph_batch` takes, optional
        The graphs that the embedding was fitted to, so that a random graph can be drawn with its
        edges and labels.

    Returns
    -------
    Alignment

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs = gm.as_graph_batch([
    ...     gm.Graph(3, [(0, 1), (1, 2)], node_labels=["C", "C", "O"]),
    ...     gm.Graph(3, [(0, 1), (1, 2)], node_labels=["C", "C", "N"]),
    ... ])
    >>> embedding = gm.RandomGraphEmbedding(4, node_embedding=None, wl_iterations=1,
    ...     wl_depths="all", node_mass="equal", random_state=0).fit(graphs)
    >>> alignment = gm.explain(graphs[0], graphs[1], embedding)
    >>> alignment
    Alignment(distance=0.5: labels 0.5; 3 flows)
    >>> alignment.to_frame()[["a", "b", "a_label", "b_label", "cost"]].head(2).round(3)
       a  b a_label b_label   cost
    0  2  2       O       N  0.333
    1  1  1       C       C  0.167
    """
    fitted = to_random_graphs(embedding, view)
    if not is_integer(b):
        other = _one_graph("b", b)
        return aligned(fitted, a, _nodes(other, fitted), other[0], _name("b", other[0]))
    require_one_of("random graph", b, len(fitted.random_graphs))
    number = int(b)
    graph = random_graph_as_graph(fitted.random_graphs, number, training_graphs)
    return aligned(fitted, a, fitted.random_graphs[number], graph, f"random graph {number}")


def aligned(
    fitted: DistancesToRandomGraphs, a: Any, y: NodeEmbeddings, b: Graph, name: str
) -> Alignment:
    """Return the alignment of a graph with another whose nodes are embedded."""
    batch = _one_graph("a", a)
    x = _nodes(batch, fitted)
    rule = general_rule(ground_of(fitted.recipe, y, partial=fitted.partial), y)
    plan, distance = transport_plan(x, y, ground=rule)
    i, j = (nodes.astype(np.int64) for nodes in np.nonzero(plan))
    flow = plan[i, j]
    unit = split_costs(fitted.recipe, rule, x, y, (i, j))
    unmatched_a, unmatched_b = np.zeros(len(x.points)), np.zeros(len(y.points))
    if rule.partial:
        unmatched_a = _left_over(x.masses / y.masses.sum(), plan.sum(axis=1))
        unmatched_b = _left_over(y.weights, plan.sum(axis=0))
    return Alignment(
        distance,
        batch[0],
        b,
        i,
        j,
        flow,
        np.sum(list(unit.values()), axis=0) if unit else np.zeros(len(flow)),
        {part: flow * values for part, values in unit.items()},
        unmatched_a,
        unmatched_b,
        rule.unmatched or 0.0,
        (_name("a", batch[0]), name),
    )


def _left_over(mass: Floats, moved: Floats) -> Floats:
    """Return the mass that has not moved; rounding errors do not count."""
    rest = mass - moved
    return np.where(rest > 1e-12 * mass.sum(), rest, 0.0)


def _missing(nodes: Ints, before: Any, after: Any) -> list[int | None]:
    """Return node numbers, with None for as many as an integer says."""
    ends = [[None] * end if isinstance(end, int) else end.tolist() for end in (before, after)]
    return [*nodes.tolist(), *ends[0], *ends[1]]


def _one_graph(name: str, graph: Any) -> GraphBatch:
    batch = as_graph_batch([graph] if isinstance(graph, str) else graph)  # a SMILES
    if len(batch) != 1:
        raise ValueError(f"{name} must be one graph, got {len(batch)}; choose one: {name}[0]")
    if not batch.n_nodes:
        raise ValueError(f"{name} has no nodes, so there is nothing to match")
    return batch


def _nodes(batch: GraphBatch, fitted: DistancesToRandomGraphs) -> NodeEmbeddings:
    fitted.require_carried(batch)
    return embed_batch(batch, fitted.recipe)


def _name(name: str, graph: Graph) -> str:
    return name if graph.id is None else str(graph.id)
