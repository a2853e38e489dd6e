"""Which random graphs a linear model relies on.

A column of Z is exp(-gamma * distance to one random graph): the closer the graph, the larger the
entry. So a random graph with a positive weight for a class is evidence for it. Random graphs record
where they came from, so they can be drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.messages import counted
from graphmover.distances import DistanceFeatures, RandomGraphDistances
from graphmover.drawing.anchors import draw_anchors
from graphmover.embedding import RandomGraphEmbedding
from graphmover.explanations.models import require_training_graphs, source_graphs, source_of
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.vectorizer import GraphVectorizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_TRANSFORMERS = (GraphVectorizer, RandomGraphEmbedding, RandomGraphDistances)


@dataclass(frozen=True)
class Column:
    """A column of vectors, and the random graph behind it."""

    name: str
    view: str | None  # of a GraphVectorizer
    random_graphs: NodeEmbeddings | None  # None: a size
    number: int


@dataclass(frozen=True, eq=False)
class AnchorWeights:
    """The weights of a linear model over random graphs: what `explain_weights` returns.

    Attributes
    ----------
    targets : list
        The classes; for a regression one entry, "target", or one for each target.
    columns : list of str
        The names of the columns of vectors.
    weights : ndarray of shape (len(targets), len(columns))
        What a column adds to the score of a class, or to the predicted value, per unit.
    importance : ndarray of the same shape
        Weights times the standard deviations of columns over the training graphs, where these are
        known; else the weights.

    Examples
    --------
    >>> import graphmover as gm
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> model = make_pipeline(gm.RandomGraphEmbedding(8, random_state=0), RidgeClassifier())
    >>> found = gm.explain_weights(model.fit(graphs, families))
    >>> found.weights.shape
    (6, 8)
    """

    targets: list[Any]
    weights: Floats
    importance: Floats
    _columns: list[Column]
    _training_graphs: GraphBatch | None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self._columns]

    def to_frame(self, n: int | None = None) -> Any:
        """Return a ``pandas.DataFrame``: for each class the anchors that favour it, best first.

        Parameters
        ----------
        n : int, optional
            How many per class; by default all, including those that speak against it.

        Returns
        -------
        pandas.DataFrame
            With the columns ``target``, ``column``, ``view``, ``random_graph``, ``weight``,
            ``importance``, ``training_graph``, ``id`` and ``nodes``. A column of sizes has no
            random graph, and uniform random graphs have no training graph.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'graphmover[pandas]'") from None
        rows = []
        for row, target in enumerate(self.targets):
            for place in self._best(row)[:n].tolist():
                column = self._columns[place]
                graph, nodes = _source(column)
                rows.append(
                    {
                        "target": target,
                        "column": column.name,
                        "view": column.view,
                        "random_graph": None if column.random_graphs is None else column.number,
                        "weight": self.weights[row, place],
                        "importance": self.importance[row, place],
                        "training_graph": graph,
                        "id": self._id(graph),
                        "nodes": nodes,
                    }
                )
        frame = pd.DataFrame(rows)
        return frame.astype({"random_graph": "Int64", "training_graph": "Int64"})

    def plot(self, target: Any = None, n: int = 6, *, molecules: bool | None = None) -> Figure:
        """Draw the anchors that favour a class most: their nodes in colour, the rest empty.

        Parameters
        ----------
        target : a class, optional
            By default the last of `targets`, which of two classes is the positive one.
        n : int
            The maximum number of anchors: those that speak against it are not drawn.
        molecules : bool or None
            As in `Alignment.plot`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if self._training_graphs is None:
            raise ValueError(
                "random graphs are plotted as parts of their training graphs: call explain_weights "
                "with training_graphs"
            )
        chosen = self.targets[-1] if target is None else target
        if chosen not in self.targets:
            names = ", ".join(map(str, self.targets))
            raise ValueError(f"there is no target {chosen!r}, only {names}")
        row = self.targets.index(chosen)
        pictures: list[tuple[Graph, NDArray[np.int64], str, str]] = []
        for place in self._best(row).tolist():
            column = self._columns[place]
            if len(pictures) == n or self.importance[row, place] <= 0:
                break
            if source_graphs(column.random_graphs or _NOTHING) is None:
                continue
            assert column.random_graphs is not None
            graph, nodes = source_of(column.random_graphs, column.number, self._training_graphs)
            number, _ = _source(column)
            name = f"graph {number}" if graph.id is None else str(graph.id)
            words = f"{self.importance[row, place]:+.3g} ({column.name})"
            pictures.append((graph, nodes, name, words))
        if not pictures:
            raise ValueError(
                f"no random graph that favours {chosen} is known to come from a training graph"
            )
        return draw_anchors(pictures, title=f"evidence for {chosen}", molecules=molecules)

    def best(
        self, target: Any, n: int, only: NDArray[np.bool_], *, against: bool = False
    ) -> list[dict[str, Any]]:
        """Return the anchors that favour a class most, of some training graphs, as plain values.

        Parameters
        ----------
        target : one of `targets`
        n : int
            How many at most.
        only : ndarray of bool
            Which training graphs count.
        against : bool
            Return those that speak most against it.
        """
        row = self.targets.index(target)
        found: list[dict[str, Any]] = []
        order = self._best(row)
        for place in (order[::-1] if against else order).tolist():
            graph, nodes = _source(self._columns[place])
            value = float(self.importance[row, place])
            if len(found) == n or (value >= 0 if against else value <= 0):
                break
            if graph is not None and only[graph]:
                name = self._columns[place].name
                found.append({"graph": graph, "nodes": nodes, "importance": value, "column": name})
        return found

    def _best(self, row: int) -> NDArray[np.int64]:
        order: NDArray[np.int64] = np.argsort(-self.importance[row], kind="stable")
        return order

    def _id(self, graph: int | None) -> Any:
        batch = self._training_graphs
        return None if graph is None or batch is None or batch.ids is None else batch.ids[graph]

    def __repr__(self) -> str:
        columns = counted(len(self._columns), "column")
        return f"AnchorWeights({counted(len(self.targets), 'target')}, {columns})"


_NOTHING = NodeEmbeddings(np.zeros((0, 1)), [], [0])


def explain_weights(model: Any, training_graphs: Any = None) -> AnchorWeights:
    """Name the random graphs that favour each class in a linear model over vectors.

    Parameters
    ----------
    model : fitted Pipeline
        It begins with `GraphVectorizer`, `RandomGraphEmbedding`, or `RandomGraphDistances` and
        `DistanceFeatures`, and ends with a linear model: anything with ``coef_``, such as
        `LogisticRegression`, `LinearSVC`, `RidgeClassifier` or `Ridge`. Scalers in between are
        taken into account. A fitted search stands for its best estimator.
    training_graphs : GraphBatch or anything `as_graph_batch` takes, optional
        The graphs that the model was fitted to: they give the importance of columns, ids, and
        pictures.

    Returns
    -------
    AnchorWeights

    Examples
    --------
    >>> import graphmover as gm
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> model = make_pipeline(gm.GraphVectorizer(16, random_state=0), RidgeClassifier())
    >>> found = gm.explain_weights(model.fit(graphs, families), graphs)
    >>> found
    AnchorWeights(6 targets, 54 columns)
    >>> found.to_frame(2)[["target", "view"]].shape
    (12, 2)
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, RobustScaler, StandardScaler

    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline) or not isinstance(model[0], _TRANSFORMERS):
        raise TypeError(
            "model must be a fitted pipeline of GraphVectorizer or RandomGraphEmbedding and a "
            f"linear model, got {type(model).__name__}"
        )
    check_is_fitted(model)
    columns = _columns_of(model[0])
    scales = np.ones(len(columns))
    for name, step in model.steps[1:-1]:
        if isinstance(step, DistanceFeatures):
            columns, scales = columns[: step.n_components_], scales[: step.n_components_]
        elif isinstance(step, MaxAbsScaler | RobustScaler | StandardScaler):
            scales /= 1.0 if step.scale_ is None else step.scale_
        elif step not in (None, "passthrough"):
            raise TypeError(
                f"the step {name!r} mixes or drops columns ({type(step).__name__}): expected "
                f"only scalers between the vectors and the linear model"
            )
    targets, coefficients = _coefficients(model[-1])
    if coefficients.shape[1] != len(columns):
        raise ValueError(
            f"the linear model has {coefficients.shape[1]} weights, but there are {len(columns)} "
            f"columns"
        )
    weights = coefficients * scales
    importance, batch = weights, None
    if training_graphs is not None:
        drawn = {id(column.random_graphs): column.random_graphs for column in columns}
        for random_graphs in drawn.values():
            batch = require_training_graphs(training_graphs, random_graphs or _NOTHING)
        vectors = model[0].transform(batch)
        for _, step in model.steps[1:-1]:
            if isinstance(step, DistanceFeatures):
                vectors = step.transform(vectors)
        importance = weights * np.std(np.asarray(vectors), axis=0)
    return AnchorWeights(targets, weights, importance, columns, batch)


def weights_of(
    transformer: Any, head: Any, training_graphs: GraphBatch, vectors: Floats
) -> AnchorWeights:
    """Return what `explain_weights` does of a fitted transformer and head, vectors at hand."""
    targets, weights = _coefficients(head)
    importance = weights * np.std(vectors, axis=0)
    return AnchorWeights(targets, weights, importance, _columns_of(transformer), training_graphs)


def _columns_of(transformer: Any) -> list[Column]:
    if not isinstance(transformer, GraphVectorizer):
        names, drawn = transformer.get_feature_names_out(), transformer.random_graphs_
        return [Column(str(name), None, drawn, at) for at, name in enumerate(names)]
    columns, names = [], iter(transformer.get_feature_names_out())
    for view, embedding in transformer.views_:
        drawn = getattr(embedding, "random_graphs_", None)
        width = len(embedding.get_feature_names_out()) if drawn is None else len(drawn)
        columns += [Column(str(next(names)), view, drawn, at) for at in range(width)]
    return columns


def _coefficients(head: Any) -> tuple[list[Any], Floats]:
    """Return what is predicted, and a row of weights for each."""
    head = getattr(head, "best_estimator_", head)
    found = getattr(head, "coef_", None)
    if found is None:
        raise TypeError(f"{type(head).__name__} has no coef_: expected a linear model at the end")
    rows = np.atleast_2d(np.asarray(found, np.float64))
    if not hasattr(head, "classes_"):
        names = [f"target {at}" for at in range(len(rows))]
        return names if len(rows) > 1 else ["target"], rows
    classes = np.asarray(head.classes_).tolist()
    if len(rows) == 1 and len(classes) == 2:
        rows = np.concatenate([-rows, rows])
    if len(rows) != len(classes):
        raise ValueError(
            f"{type(head).__name__} has {len(rows)} rows of weights for {len(classes)} classes: "
            f"expected one-vs-rest"
        )
    return classes, rows


def _source(column: Column) -> tuple[int | None, list[int] | None]:
    """Return the training graph of a column, and its nodes, as far as they are known."""
    if column.random_graphs is None or source_graphs(column.random_graphs) is None:
        return None, None
    drawn = column.random_graphs[column.number]
    sources: Any = drawn
    return int(sources.source_graphs[0]), sources.source_nodes.tolist()
