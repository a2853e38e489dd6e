"""Vectors of all graphs on a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import number_of_threads

Floats = NDArray[np.float64]

#: "auto" uses t-SNE for at most this many graphs.
_MOST_FOR_TSNE = 5_000

#: Vectors that differ by less than this are the same.
_NO_SPREAD = 1e-9

#: With fewer graphs, t-SNE uses one thread.
_WORTH_THREADS = 2_000

#: t-SNE sees this many principal components.
_COMPONENTS = 50


def placed(vectors: Floats, method: str, seed: int, n_jobs: int | None) -> tuple[Floats, str]:
    """Return a place for each graph, and a sentence that says how it was found."""
    from sklearn.decomposition import PCA

    n_graphs, n_columns = vectors.shape
    if n_graphs < 3 or np.ptp(vectors, axis=0).max() < _NO_SPREAD:
        line = np.column_stack([np.arange(n_graphs, dtype=np.float64), np.zeros(n_graphs)])
        return line, "The graphs are too few, or too similar, for a map: they are shown in a line."
    wanted = min(_COMPONENTS, n_graphs, n_columns)
    pca = PCA(wanted, random_state=seed, svd_solver="randomized" if n_graphs > 500 else "auto")
    reduced = pca.fit_transform(vectors)
    if method == "auto":
        method = "tsne" if 10 <= n_graphs <= _MOST_FOR_TSNE else "pca"
    if method == "pca":
        places = np.zeros((n_graphs, 2))
        places[:, : min(2, wanted)] = reduced[:, :2]
        share = pca.explained_variance_ratio_[:2].sum()
        words = f"The first two principal components of the vectors: {share:.0%} of their variance."
        return places, words
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (n_graphs - 1) / 3)
    tsne = TSNE(2, init="pca", perplexity=perplexity, random_state=seed, n_jobs=n_jobs)
    # On few graphs, or beside other work, threads that wait for each other take longer than one.
    n_threads = number_of_threads(n_jobs) if n_graphs >= _WORTH_THREADS else 1
    with threadpool_limits(n_threads):
        found: Floats = tsne.fit_transform(reduced).astype(np.float64)
    return found, (
        f"t-SNE of the vectors (perplexity {perplexity:.0f}): similar graphs are close, and "
        f"distances across the map say little."
    )
