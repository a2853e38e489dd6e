"""What a page shows, step by step: vectors, map, drawings, neighbours, predictions, anchors."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import logger
from graphmover._utils.progress import Bar, progress_bar
from graphmover.datasets.summary import Summary
from graphmover.explanations.weights import AnchorWeights, weights_of
from graphmover.graphs.batch import GraphBatch
from graphmover.page.drawings import Drawings, drawings_of
from graphmover.page.map import placed
from graphmover.page.neighbours import Neighbours, nearest
from graphmover.page.predictions import Predictions, cross_validated, fitted, linear_model
from graphmover.page.source import Data
from graphmover.vectorizer import GraphVectorizer

Floats = NDArray[np.float64]


class Steps:
    """Steps with their times, each with a progress bar."""

    def __init__(self, *, verbose: bool) -> None:
        self.seconds: dict[str, float] = {}
        self._verbose = verbose

    @contextmanager
    def __call__(self, name: str, total: int | None = None) -> Iterator[Bar]:
        """Measure a step of perhaps ``total`` items; the block gets its progress bar."""
        start = time.perf_counter()
        with progress_bar(name if self._verbose else None, total, unit="it") as bar:
            yield bar
        self.seconds[name] = time.perf_counter() - start
        logger.debug("%s: %.1f s", name, self.seconds[name])


class Work(NamedTuple):
    """The graphs of a page, and how they are computed with."""

    data: Data
    n_components: int
    device: str
    n_jobs: int | None
    seed: int
    steps: Steps

    @property
    def graphs(self) -> GraphBatch:
        """The graphs."""
        return self.data.dataset.graphs

    def vectorizer(self) -> GraphVectorizer:
        """Return what makes their vectors."""
        return GraphVectorizer(
            self.n_components, device=self.device, n_jobs=self.n_jobs, random_state=self.seed
        )


class Content(NamedTuple):
    """What was computed."""

    summary: Summary
    places: Floats
    map_words: str
    drawings: Drawings
    neighbours: Neighbours
    predictions: Predictions | None
    anchors: AnchorWeights | None
    views: list[tuple[str, str]]


def content_of(work: Work, summary: Summary, n_neighbors: int, n_folds: int, map: str) -> Content:
    """Compute everything that a page shows."""
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
    return Content(summary, places, words, drawings, neighbours, predictions, anchors, shown)
