"""One page that shows a collection of graphs: what it holds, its map, predictions and anchors."""

from __future__ import annotations

import difflib
import inspect
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sklearn import config_context

from graphmover._utils.checks import require_integer
from graphmover._utils.files import replacing, require_new, require_writable
from graphmover.datasets.summary import summarise
from graphmover.evaluation.target import require_task
from graphmover.io.formats import read_graphs
from graphmover.page import charts
from graphmover.page.content import Steps, Work, content_of
from graphmover.page.sections import page_of
from graphmover.page.source import read_data
from graphmover.parameters import require_allowed

#: A page holds at most this many graphs.
MOST_GRAPHS = 20_000


class Made(NamedTuple):
    """What `report` wrote."""

    path: Path
    n_graphs: int
    n_bytes: int
    seconds: dict[str, float]  # by step
    notes: tuple[str, ...] = ()  # why nothing is predicted, or classes that are too rare


def report(
    source: Any,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    task: str = "auto",
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
    """Write a self-contained HTML page that shows a collection of graphs; it works offline.

    The page tells what the data holds, maps all graphs with their drawings, nearest graphs and
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
    task : {"auto", "classification", "regression"}
        What the target is. "auto": values if any of its numbers is not an integer, else classes.
    title : str, optional
        The heading of the page; by default the name of the source.
    n_components : int
        Number of random graphs in each view of the `GraphVectorizer` behind the page.
    n_neighbors : int
        How many nearest graphs to show, by exact distance (`NearestGraphs`).
    n_folds : int
        Number of folds of the cross-validation; 0 for no predictions.
    map : {"auto", "tsne", "pca"}
        "auto": t-SNE for up to 5,000 graphs, principal components for more.
    max_graphs : int
        If there are more graphs, a random sample of this size is shown, and the page says so.
    overwrite : bool
        Overwrite an existing page.
    device, n_jobs
        As in `GraphVectorizer`.
    random_state : int
        Seed of everything that is random.
    verbose : bool
        Show a progress bar on standard error.
    **reading
        Options of `read_graphs`, such as ``target_column``.

    Returns
    -------
    Made
        The path, the number of graphs, the size of the page in bytes, the seconds of each step, and
        notes of what is lacking, such as the reason why nothing is predicted; a target that
        cannot be predicted is also a warning.

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
    _require_known(reading)
    _check(path, task, n_components, n_neighbors, n_folds, map, max_graphs, random_state)
    charts.bokeh_library()  # says at once if it is missing
    require_writable(path)
    require_new(path, overwrite=overwrite)
    parameters = _parameters(locals())
    steps = Steps(verbose=verbose)
    with steps("reading"):
        data = read_data(source, y, task, max_graphs, random_state, reading)
        summary = summarise(data.dataset)
    work = Work(data, n_components, device, n_jobs, random_state, steps)
    with config_context(transform_output="default"):  # arrays, whatever the caller prefers
        content = content_of(work, summary, n_neighbors, n_folds, map)
    with steps("writing"):
        text = page_of(work, content, title, parameters)
        with replacing(path) as file:
            file.write(text.encode())
    n_bytes = len(text.encode())
    return Made(Path(path), len(data.dataset), n_bytes, steps.seconds, data.notes)


def _require_known(reading: dict[str, Any]) -> None:
    """Raise TypeError that names an argument that neither `report` nor `read_graphs` has."""
    known = [*inspect.signature(report).parameters, *inspect.signature(read_graphs).parameters]
    for name in reading:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            meant = f": did you mean {close[0]}?" if close else ""
            raise TypeError(f"report() got an unexpected argument {name!r}{meant}")


def require_page_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless a file name ends in ``.html``."""
    if not os.fspath(path).endswith((".html", ".htm")):
        raise ValueError(
            f"cannot write a report as {os.fspath(path)}: expected a name that ends in .html"
        )


def _check(
    path: Any,
    task: Any,
    n_components: Any,
    n_neighbors: Any,
    n_folds: Any,
    map: Any,
    max_graphs: Any,
    random_state: Any,
) -> None:
    require_page_name(path)
    require_task(task)
    require_allowed("n_components", n_components)
    require_integer("n_neighbors", n_neighbors, least=0)
    require_integer("n_folds", n_folds, least=0)
    require_integer("max_graphs", max_graphs, least=1)
    require_integer("random_state", random_state, least=0)
    if n_folds == 1:
        raise ValueError("n_folds must be 0 or at least 2, got 1")
    if map not in ("auto", "tsne", "pca"):
        raise ValueError(f'map must be "auto", "tsne" or "pca", got {map!r}')


def _parameters(given: dict[str, Any]) -> list[tuple[str, Any]]:
    names = ("task", "n_components", "n_neighbors", "n_folds", "map", "max_graphs", "device")
    return [(name, given[name]) for name in (*names, "n_jobs", "random_state")]
