"""graph2vec (Narayanan et al. 2017): paragraph vectors of Weisfeiler-Lehman words, by gensim."""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Any

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, GraphMethod
from graphmover.rivals.optional import optional
from graphmover.rivals.weisfeiler_lehman import wl_words


class Graph2Vec(GraphMethod):
    """A vector per graph that predicts the Weisfeiler-Lehman labels in it (PV-DBOW).

    All vectors, those of the training graphs too, are inferred with the words' vectors fixed.
    Training runs in one thread, so that a seed gives the same vectors every time.

    Parameters
    ----------
    n_components : int
        The length of the vectors.
    iterations : int
        Weisfeiler-Lehman refinements, h.
    epochs : int
        Passes over the training graphs, and over a graph whose vector is inferred.
    learning_rate : float
        The initial learning rate.
    min_count : int
        Words that occur less often in the training graphs are ignored.
    sample : float
        Words that make up more than this share of all words are randomly downsampled; 0 keeps all
        of them. Here a few labels make up many of the words, so downsampling can leave little.
    random_state : int or None
        The seed; None means 0.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import Graph2Vec
    >>> graphs = gm.make_graph_families(12, random_state=0).graphs
    >>> Graph2Vec(8, epochs=2).fit_transform(graphs).shape
    (12, 8)
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        iterations: int = 2,
        epochs: int = 50,
        learning_rate: float = 0.025,
        min_count: int = 5,
        sample: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.iterations = iterations
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.min_count = min_count
        self.sample = sample
        self.random_state = random_state

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        doc2vec = optional("gensim.models.doc2vec", "Graph2Vec")
        documents = documents_of(batch, self.iterations)
        self.model_ = doc2vec.Doc2Vec(
            [doc2vec.TaggedDocument(words, [number]) for number, words in enumerate(documents)],
            vector_size=self.n_components,
            dm=0,
            window=0,
            negative=5,
            min_count=min(self.min_count, _most_frequent(documents)),
            sample=self.sample,
            epochs=self.epochs,
            alpha=self.learning_rate,
            workers=1,
            seed=self.random_state or 0,
            hashfxn=_stable_hash,
        )
        self.n_features_ = self.n_components

    def _rows(self, batch: GraphBatch) -> Floats:
        rows = np.zeros((len(batch), self.n_components))
        for number, words in enumerate(documents_of(batch, self.iterations)):
            # From the same state each time: a row must not depend on the graphs before it.
            self.model_.random.seed(self.random_state or 0)
            rows[number] = self.model_.infer_vector(words)
        return rows


def documents_of(batch: GraphBatch, iterations: int) -> list[list[str]]:
    """Return the Weisfeiler-Lehman labels of all depths of each graph, as words."""
    _, words = wl_words(batch, iterations)
    texts = [f"{word:x}" for word in words.view(np.uint64).tolist()]
    ends = (batch.offsets * (iterations + 1)).tolist()
    return [texts[a:b] for a, b in pairwise(ends)]


def _most_frequent(documents: list[list[str]]) -> int:
    """Return how often the most frequent word occurs: gensim cannot train without any word."""
    from collections import Counter

    counts = Counter(word for words in documents for word in words)
    return max(counts.values(), default=1)


def _stable_hash(text: str) -> int:
    """Return the same number in every process, which Python's own hash does not."""
    return zlib.crc32(text.encode())
