"""Embedding and classification of generated graphs: what ``graphmover demo`` runs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from graphmover._utils.files import replacing, require_writable
from graphmover.datasets import Dataset, make_graph_families
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation import evaluate
from graphmover.vectorizer import GraphVectorizer


def run_demo(
    *,
    n_graphs: int = 240,
    n_components: int = 128,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> tuple[Dataset, NDArray[np.float64], list[dict[str, Any]]]:
    """Generate graph families, embed them, and classify them.

    The random graphs of each fold are drawn from its training set only.

    Parameters
    ----------
    n_graphs, n_components : int
        Number of graphs and of random graphs; the vectorizer has as many in each view.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    data : Dataset
    vectors : ndarray of shape (n_graphs, number of columns)
        The vectors of all graphs, as `GraphVectorizer` computes them.
    scores : list of dict
        `GraphVectorizer` with logistic regression; the majority class, and, with a linear SVM, the
        vertex histogram, RGE(RF) and RGE(ASG).
    """
    data = make_graph_families(n_graphs, random_state=random_state)
    vectorizer = GraphVectorizer(n_components, n_jobs=n_jobs, random_state=random_state)
    embedding = RandomGraphEmbedding(n_components, n_jobs=n_jobs, random_state=random_state)
    uniform = RandomGraphEmbedding(
        n_components, sampling="uniform", n_jobs=n_jobs, random_state=random_state
    )
    # Both also compile the kernels, so that no method's time includes compilation.
    embedding.fit(data.graphs)
    vectors = vectorizer.fit_transform(data.graphs)
    pipeline = make_pipeline(
        clone(vectorizer).set_params(n_jobs=None), LogisticRegression(max_iter=1000)
    )
    result = evaluate(
        data.graphs,
        np.asarray(data.target),
        [pipeline, "majority class", "bag of nodes", uniform, embedding],
        n_folds=5,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    return data, vectors, result.summary()


def draw_embedding(
    vectors: NDArray[np.float64], data: Dataset, path: str | os.PathLike[str]
) -> None:
    """Save a scatter plot of the vectors in two dimensions, coloured by class.

    The coordinates come from t-SNE, which does not see the classes.
    """
    require_picture(path)
    from matplotlib.figure import Figure
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    leading = PCA(min(30, *vectors.shape), random_state=0).fit_transform(vectors)
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    with threadpool_limits(1):  # threads that wait for each other take far longer on busy cores
        plane = TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(leading)
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.subplots()
    for index, name in enumerate(data.target_names or ()):
        x, y = plane[data.target == index].T
        marker = "os^vDPX*"[index % 8]  # readable in grey
        axes.scatter(x, y, s=18, marker=marker, alpha=0.75, label=name, linewidths=0)
    axes.set(
        title=f"{len(vectors)} graphs: vectors of GraphVectorizer, by t-SNE", xticks=[], yticks=[]
    )
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    with replacing(path) as file:
        figure.savefig(file, format=_picture_format(path), dpi=150)


def require_picture(path: str | os.PathLike[str]) -> None:
    """Raise an error if a figure cannot be drawn or saved: call it before a long computation."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'graphmover[figures]'") from None
    known = Figure().canvas.get_supported_filetypes()
    if _picture_format(path) not in known:
        raise ValueError(f"{os.fspath(path)} must end in one of .{', .'.join(sorted(known))}")
    require_writable(path)


def _picture_format(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lstrip(".").lower()
