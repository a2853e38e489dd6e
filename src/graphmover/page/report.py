"""One page that shows a collection of graphs: what it holds, its map, predictions and anchors."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover import __version__
from graphmover._utils.checks import require_integer
from graphmover._utils.files import replacing, require_new, require_writable
from graphmover._utils.messages import logger
from graphmover._utils.progress import Bar, progress_bar
from graphmover.datasets.summary import Summary, summarise
from graphmover.evaluation.target import Target, encoded_target
from graphmover.explanations.weights import AnchorWeights, weights_of
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.formats import read_graphs
from graphmover.page import charts
from graphmover.page.drawings import Drawings, drawings_of
from graphmover.page.html import chart_place, escaped, note, page, table
from graphmover.page.map import placed
from graphmover.page.neighbours import Neighbours, nearest
from graphmover.page.packed import packed_arrays, smallest_unsigned
from graphmover.page.predictions import Predictions, cross_validated, fitted, linear_model
from graphmover.parameters import require_allowed
from graphmover.vectorizer import GraphVectorizer

Floats = NDArray[np.float64]

#: A page holds at most this many graphs.
MOST_GRAPHS = 20_000

#: Of each class, this many anchors are shown, and of this many classes.
_ANCHORS = 6
_ANCHOR_CLASSES = 12


#: Ids are cut to this many characters.
_ID_CHARACTERS = 200


class Made(NamedTuple):
    """What `report` wrote."""

    path: Path
    n_graphs: int
    n_bytes: int
    seconds: dict[str, float]  # by step


def report(
    source: Any,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    title: str | None = None,
    n_components: int = 256,
    n_neighbors: int = 5,
    n_folds: int = 5,
    map: Literal["auto", "tsne", "pca"] = "auto",
    max_graphs: int = MOST_GRAPHS,
    overwrite: bool = False,
    device: str = "cpu",
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: bool = False,
    **reading: Any,
) -> Made:
    """Write one HTML file that shows a collection of graphs; it opens without a network.

    It tells what the data holds, maps all graphs with their drawings, nearest graphs and
    alignments, predicts the target by cross-validation, shows the random graphs that matter, and
    says how it was made (docs/report.md).

    Parameters
    ----------
    source : path, Dataset, GraphBatch or iterable of graphs
        See `read_graphs`.
    path : path
        The page; its name ends in ``.html``.
    y : array-like, optional
        A target for each graph, in place of the source's own.
    title : str, optional
        The source's name unless given.
    n_components : int
        Random graphs of each view of the `GraphVectorizer` behind the page.
    n_neighbors : int
        How many of the nearest graphs are shown, by exact distance (`NearestGraphs`).
    n_folds : int
        Folds of the cross-validation; 0: no predictions.
    map : {"auto", "tsne", "pca"}
        "auto": t-SNE for up to 5,000 graphs, principal components for more.
    max_graphs : int
        If there are more, a random sample of so many is shown, and the page says so.
    overwrite : bool
        Replace a page that exists.
    device, n_jobs
        As in `GraphVectorizer`.
    random_state : int
        Seed of everything that is drawn.
    verbose : bool
        Show a progress bar on standard error.
    **reading
        Options of `read_graphs`, such as ``target_column``.

    Returns
    -------
    Made
        The path, the number of graphs, the size of the page in bytes, and the seconds of each step.

    Examples
    --------
    >>> import tempfile
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = gm.report(data, f"{folder}/report.html", n_components=16, n_folds=2)
    >>> made.n_graphs
    60
    """
    _check(path, n_components, n_neighbors, n_folds, map, max_graphs, random_state)
    charts.bokeh_library()  # says at once if it is missing
    require_writable(path)
    require_new(path, overwrite=overwrite)
    parameters = _parameters(locals())
    steps = _Steps(verbose=verbose)
    with steps("reading"):
        data = _read(source, y, max_graphs, random_state, reading)
        summary = summarise(data.dataset)
    work = _Work(data, n_components, device, n_jobs, random_state, steps)
    content = _content(work, summary, n_neighbors, n_folds, map)
    with steps("writing"):
        text = _page(work, content, title, parameters)
        with replacing(path) as file:
            file.write(text.encode())
    return Made(Path(path), len(data.dataset), len(text.encode()), steps.seconds)


class _Data(NamedTuple):
    dataset: Dataset
    n_all: int  # how many graphs there were
    target: Target | None
    no_target: str  # why there is none


class _Work(NamedTuple):
    data: _Data
    n_components: int
    device: str
    n_jobs: int | None
    seed: int
    steps: _Steps

    @property
    def graphs(self) -> GraphBatch:
        return self.data.dataset.graphs

    def vectorizer(self) -> GraphVectorizer:
        return GraphVectorizer(
            self.n_components, device=self.device, n_jobs=self.n_jobs, random_state=self.seed
        )


class _Content(NamedTuple):
    summary: Summary
    places: Floats
    map_words: str
    drawings: Drawings
    neighbours: Neighbours
    predictions: Predictions | None
    anchors: AnchorWeights | None
    views: list[tuple[str, str]]


class _Steps:
    """Steps with their times, each with a progress bar."""

    def __init__(self, *, verbose: bool) -> None:
        self.seconds: dict[str, float] = {}
        self._verbose = verbose

    @contextmanager
    def __call__(self, name: str, total: int | None = None) -> Iterator[Bar]:
        start = time.perf_counter()
        with progress_bar(name if self._verbose else None, total, unit="it") as bar:
            yield bar
        self.seconds[name] = time.perf_counter() - start
        logger.debug("%s: %.1f s", name, self.seconds[name])


def require_page_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless a file name ends in ``.html``."""
    if not os.fspath(path).endswith((".html", ".htm")):
        raise ValueError(
            f"cannot write a report as {os.fspath(path)}: expected a name that ends in .html"
        )


def _check(
    path: Any, n_components: Any, n_neighbors: Any, n_folds: Any, map: Any, max_graphs: Any, s: Any
) -> None:
    require_page_name(path)
    require_allowed("n_components", n_components)
    require_integer("n_neighbors", n_neighbors, least=0)
    require_integer("n_folds", n_folds, least=0)
    require_integer("max_graphs", max_graphs, least=1)
    require_integer("random_state", s, least=0)
    if n_folds == 1:
        raise ValueError("n_folds must be 0 or at least 2, got 1")
    if map not in ("auto", "tsne", "pca"):
        raise ValueError(f'map must be "auto", "tsne" or "pca", got {map!r}')


def _read(source: Any, y: Any, max_graphs: int, seed: int, reading: dict[str, Any]) -> _Data:
    dataset = read_graphs(source, **reading)
    if y is not None:
        dataset = Dataset(dataset.name, dataset.graphs, np.asarray(y))
    n_all = len(dataset)
    if not dataset.graphs.n_nodes:
        raise ValueError("no graph has any nodes, so there is nothing to show")
    if n_all > max_graphs:
        chosen = np.random.default_rng(seed).choice(n_all, max_graphs, replace=False)
        dataset = dataset[np.sort(chosen)]
    if dataset.target is None:
        return _Data(dataset, n_all, None, "The graphs have no target, so nothing is predicted.")
    try:
        target = encoded_target(_named(dataset), len(dataset), 2)
    except ValueError as error:
        return _Data(dataset, n_all, None, f"Nothing is predicted: {error}.")
    return _Data(dataset, n_all, target, "")


def _named(dataset: Dataset) -> Any:
    """Return the target with the names of classes, where it has them."""
    names, target = dataset.target_names, dataset.target
    if names is None or target is None or target.dtype.kind not in "iu":
        return target
    return np.array([names[code] for code in target.tolist()], dtype=object)


def _content(work: _Work, summary: Summary, n_neighbors: int, n_folds: int, map: str) -> _Content:
    graphs, target, steps = work.graphs, work.data.target, work.steps
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have no nodes")  # the page shows them
        with steps("vectors"):
            vectorizer = work.vectorizer()
            vectors = vectorizer.fit_transform(graphs)
        with steps("map"):
            places, words = placed(vectors, map, work.seed, work.n_jobs)
        with steps("drawings", len(graphs)) as bar:
            drawings = drawings_of(graphs, bar)
        with steps("neighbours", len(graphs)) as bar:
            neighbours = nearest(
                graphs,
                n_neighbors,
                drawings.is_drawn,
                n_jobs=work.n_jobs,
                seed=work.seed,
                device=work.device,
                bar=bar,
            )
        predictions = anchors = None
        n_used = min(n_folds, len(graphs))
        with steps("predictions", n_used) as bar:
            if target is not None and n_folds:
                predictions = cross_validated(
                    graphs, target, work.vectorizer(), n_used, work.seed, bar
                )
            if target is not None:
                head = fitted(linear_model(target, work.seed), vectors, target.values)
                anchors = weights_of(vectorizer, head, graphs, vectors)
    shown = [(name, summary.views.get(name, "")) for name, _ in vectorizer.views_]
    return _Content(summary, places, words, drawings, neighbours, predictions, anchors, shown)


def _parameters(given: dict[str, Any]) -> list[tuple[str, Any]]:
    names = ("n_components", "n_neighbors", "n_folds", "map", "max_graphs", "device", "n_jobs")
    return [(name, given[name]) for name in (*names, "random_state")]


def _page(
    work: _Work, content: _Content, title: str | None, parameters: list[tuple[str, Any]]
) -> str:
    data, target = work.data, work.data.target
    shown: dict[str, Any] = {"chart-map": charts.map_chart(content.places, target)}
    shown["chart-nodes"] = charts.bars("Nodes per graph", content.summary.node_histogram)
    counts = (content.summary.target or {}).get("classes")
    if counts and len(counts) <= charts.MOST_CLASSES:
        shown["chart-classes"] = charts.bars("Graphs per class", counts)
    data_charts = "".join(chart_place(name) for name in shown if name != "chart-map")
    name = title if title is not None else data.dataset.name or "Graphs"
    sampled = f", a random sample of {data.n_all:,}" if data.n_all > len(data.dataset) else ""
    texts = {
        "title": escaped(name),
        "subtitle": escaped(f"{len(data.dataset):,} graphs{sampled}"),
        "summary": _summary_table(content.summary),
        "data_charts": data_charts,
        "map_words": escaped(content.map_words),
        "scores": _scores(data, content, shown),
        "anchors": _anchor_words(data, content),
        "made": _made(work, content, parameters),
    }
    arrays, meta = _arrays(work, content), _meta(work, content)
    meta["arrays"], packed = packed_arrays(arrays)
    return page(texts, meta, packed, shown)


def _summary_table(summary: Summary) -> str:
    def spread(values: Any) -> str:
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
    target = summary.target
    if target is not None and "classes" in target:
        rows.append(("Target", f"{len(target['classes'])} classes"))
    elif target is not None:
        rows.append(("Target", f"numbers from {target['least']:g} to {target['most']:g}"))
    return table(rows)


def _scores(data: _Data, content: _Content, shown: dict[str, Any]) -> str:
    predictions, target = content.predictions, data.target
    if target is None:
        return note(data.no_target)
    if predictions is None:
        return note("No predictions were asked for (n_folds=0).")
    text = table(predictions.scores.items()) + "".join(note(one) for one in target.notes)
    if len(target.classes) > charts.MOST_CLASSES:
        return text + note(f"{len(target.classes)} classes are too many for a confusion matrix.")
    if len(target.classes):
        shown["chart-scores"] = charts.confusion_chart(target, predictions.values)
        return text + chart_place("chart-scores")
    shown["chart-scores"] = charts.residual_chart(target, predictions.values)
    shown["chart-residuals"] = charts.residual_histogram(predictions.values - target.values)
    both = chart_place("chart-scores") + chart_place("chart-residuals")
    return text + f'<div class="columns">{both}</div>'


def _anchor_words(data: _Data, content: _Content) -> str:
    if content.anchors is None:
        return note(data.no_target)
    words = (
        '<p class="muted">Vectors are closeness to random graphs, drawn from these graphs. A '
        "linear model over all graphs gives each a weight; shown are those that speak most for a "
        "class, their nodes in orange, with their weight times the standard deviation of their "
        "column.</p>"
    )
    return words + '<div id="anchors"></div>'


def _made(work: _Work, content: _Content, parameters: list[tuple[str, Any]]) -> str:
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


def _arrays(work: _Work, content: _Content) -> dict[str, Any]:
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


def _meta(work: _Work, content: _Content) -> dict[str, Any]:
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
        "anchors": _anchors(content, target),
        "first": int(np.flatnonzero(graphs.node_counts)[0]),
    }


def _short(name: Any) -> Any:
    """Cut an id that would fill the page."""
    is_long = isinstance(name, str) and len(name) > _ID_CHARACTERS
    return name[: _ID_CHARACTERS - 1] + "…" if is_long else name


def _anchors(content: _Content, target: Target | None) -> list[dict[str, Any]]:
    if content.anchors is None or target is None:
        return []
    names, weights, drawn = target.classes.tolist(), content.anchors, content.drawings.is_drawn
    if names:
        return [
            {"title": f"Speak for {names[code]}", "anchors": weights.best(code, _ANCHORS, drawn)}
            for code in weights.targets[:_ANCHOR_CLASSES]
        ]
    (only,) = weights.targets
    return [
        {"title": title, "anchors": weights.best(only, _ANCHORS, drawn, against=against)}
        for title, against in (("Speak for a higher value", False), ("For a lower value", True))
    ]
