"""`GraphVectorizer` with the linear model that the documentation starts with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sklearn.base import clone

from graphmover.vectorizer import GraphVectorizer

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def vectorizer_pipelines(
    vectorizer: GraphVectorizer, n_components: Sequence[int], *, regression: bool
) -> list[tuple[str, Pipeline]]:
    """Return a pipeline for each number of random graphs, with a name, as methods of `evaluate`.

    Parameters
    ----------
    vectorizer : GraphVectorizer
        Its clones have one thread, since folds run in threads.
    n_components : sequence of int
        Without any, the number is the vectorizer's own.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation.methods.vectorizer import vectorizer_pipelines
    >>> for name, _ in vectorizer_pipelines(gm.GraphVectorizer(), [64, 128], regression=False):
    ...     print(name)
    GraphVectorizer + LogisticRegression, R = 64
    GraphVectorizer + LogisticRegression, R = 128
    """
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    head = Ridge() if regression else LogisticRegression(max_iter=1000)
    single = clone(vectorizer).set_params(n_jobs=None, verbose=False)
    name = f"GraphVectorizer + {type(head).__name__}"
    several = []
    for number in n_components or [single.n_components]:
        own = clone(single).set_params(n_components=number)
        title = name if len(n_components) < 2 else f"{name}, R = {number}"
        several.append((title, make_pipeline(own, clone(head))))
    return several
