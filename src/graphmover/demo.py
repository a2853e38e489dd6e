"""The main job, end to end, on data made on the spot: what ``graphmover demo`` runs."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._files import replacing, require_writable
from graphmover.datasets import Dataset, make_graph_families
from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs import GraphBatch


@dataclass(frozen=True)
class Score:
    """Cross-validated accuracy of one method."""

    method: str
    mean: float
    std: float
    seconds: float


def run_demo(
    *,
    n_graphs: int = 600,
    n_components: int = 256,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> tuple[Dataset, NDArray[np.float64], list[Score]]:
    """Make graph families, embed them, and tell them apart.

    The random graphs of each fold are drawn from its training part only.

    Parameters
    ----------
    n_graphs, n_components : int
        Number of graphs and of random graphs.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    data : Dataset
    vectors : ndarray of shape (n_graphs, n_components)
        The embedding of all graphs by RGE(ASG).
    scores : list of Score
        The majority class, a degree histogram, RGE(RF) and RGE(ASG), all with a linear SVM.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from tqdm import tqdm

    data = make_graph_families(n_graphs, random_state=random_state)
    embedding = RandomGraphEmbedding(n_components, n_jobs=n_jobs, random_state=random_state)
    uniform = RandomGraphEmbedding(
        n_components, sampling="uniform", n_jobs=n_jobs, random_state=random_state
    )
    methods = {
        "majority class": make_pipeline(
            FunctionTransformer(degree_histograms), DummyClassifier(strategy="most_frequent")
        ),
        "degree histogram": make_pipeline(FunctionTransformer(degree_histograms), _linear_svm()),
        f"RGE(RF), R = {n_components}": make_pipeline(uniform, _linear_svm()),
        f"RGE(ASG), R = {n_components}": make_pipeline(embedding, _linear_svm()),
    }
    vectors = embedding.fit_transform(data.graphs)  # compiles, so that no method's time does
    folds = StratifiedKFold(5, shuffle=True, random_state=random_state)
    scores = []
    for method, pipeline in tqdm(methods.items(), desc="cross-validating", disable=not progress):
        start = time.perf_counter()
        accuracy = cross_val_score(pipeline, data.graphs, data.target, cv=folds)
        seconds = time.perf_counter() - start
        scores.append(Score(method, float(accuracy.mean()), float(accuracy.std()), seconds))
    return data, vectors, scores


def degree_histograms(graphs: GraphBatch, n_bins: int = 24) -> NDArray[np.float64]:
    """Return the share of each graph's nodes that have degree 0, 1, ... (the last: or more).

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.demo import degree_histograms
    >>> degree_histograms(gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)])), n_bins=4)
    array([[0.        , 0.66666667, 0.33333333, 0.        ]])
    """
    degrees = np.minimum(np.diff(graphs.indptr), n_bins - 1)
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    counts = np.zeros((len(graphs), n_bins))
    np.add.at(counts, (graph_of_node, degrees), 1)
    return counts / np.maximum(graphs.node_counts, 1)[:, np.newaxis]


def draw_embedding(
    vectors: NDArray[np.float64], data: Dataset, path: str | os.PathLike[str]
) -> None:
    """Save a picture of the vectors in two dimensions, coloured by the named classes.

    The places come from t-SNE, which is not told the classes: only the colours are.
    """
    require_picture(path)
    from matplotlib.figure import Figure
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    leading = PCA(min(30, *vectors.shape), random_state=0).fit_transform(vectors)
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    plane = TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(leading)
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.subplots()
    for index, name in enumerate(data.target_names or ()):
        x, y = plane[data.target == index].T
        marker = "os^vDPX*"[index % 8]  # readable in grey
        axes.scatter(x, y, s=18, marker=marker, alpha=0.75, label=name, linewidths=0)
    axes.set(title=f"{len(vectors)} graphs by their embedding (t-SNE)", xticks=[], yticks=[])
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    with replacing(path) as file:
        figure.savefig(file, format=_picture_format(path), dpi=150)


def _linear_svm() -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaled = make_pipeline(StandardScaler(), LinearSVC(dual=False))
    return GridSearchCV(scaled, {"linearsvc__C": [0.01, 0.1, 1.0]}, cv=3)


def require_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a picture that cannot be drawn or saved: asked before the work, not after it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'graphmover[figures]'") from None
    known = Figure().canvas.get_supported_filetypes()
    if _picture_format(path) not in known:
        raise ValueError(f"{os.fspath(path)} must end in one of .{', .'.join(sorted(known))}")
    require_writable(path)


def _picture_format(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lstrip(".").lower()
