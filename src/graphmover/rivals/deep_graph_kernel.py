"""Deep graph kernels, DGK (Yanardag and Vishwanathan 2015), by gensim's word2vec."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, GraphMethod
from graphmover.rivals.graph2vec import documents_of
from graphmover.rivals.optional import optional
from graphmover.rivals.weisfeiler_lehman import BagOfWLLabels


class DeepGraphKernel(GraphMethod):
    """Weisfeiler-Lehman labels counted, where similar labels count as partly the same.

    With the counts P of labels and the unit vectors V that word2vec gives the labels, the kernel
    is ``P V V' P'``: rows are ``P V``. A sentence is all labels of one depth in one graph.

    Parameters
    ----------
    n_components : int
        The length of the labels' vectors.
    iterations : int
        Weisfeiler-Lehman refinements, h.
    window : int
        Labels of a sentence that are at most this far apart are each other's context.
    epochs : int
        Passes over the training graphs.
    random_state : int or None
        The seed; None means 0.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import DeepGraphKernel
    >>> graphs = gm.make_graph_families(12, random_state=0).graphs
    >>> DeepGraphKernel(8, epochs=1).fit_transform(graphs).shape
    (12, 8)
    """

    def __init__(
        self,
        n_components: int = 25,
        *,
        iterations: int = 2,
        window: int = 25,
        epochs: int = 5,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.iterations = iterations
        self.window = window
        self.epochs = epochs
        self.random_state = random_state

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        word2vec = optional("gensim.models.word2vec", "DeepGraphKernel").Word2Vec
        self.n_features_ = self.n_components
        self.bag_ = BagOfWLLabels(self.iterations).fit(batch)
        words = [f"{word:x}" for word in self.bag_.codes_.view(np.uint64).tolist()]
        if len(words) < 2:  # gensim never returns from training a single word
            self.vectors_ = np.eye(len(words), self.n_components)
            return
        model = word2vec(
            _sentences(batch, self.iterations),
            vector_size=self.n_components,
            window=self.window,
            min_count=0,
            sg=1,
            hs=1,
            negative=0,
            epochs=self.epochs,
            workers=1,
            seed=self.random_state or 0,
        )
        vectors = np.array([model.wv[word] for word in words], np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors_ = vectors / np.where(lengths > 0, lengths, 1.0)

    def _rows(self, batch: GraphBatch) -> Floats:
        rows: Floats = self.bag_._transform(batch) @ self.vectors_
        return rows


def _sentences(batch: GraphBatch, iterations: int) -> list[list[str]]:
    """Return the labels of each graph at each depth."""
    documents = documents_of(batch, iterations)
    depths = iterations + 1
    return [words[depth::depths] for words in documents for depth in range(depths) if words]
