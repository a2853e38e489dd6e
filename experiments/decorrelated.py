"""GraphVectorizer's views, each with its directions closer in length: a variant under study.

A view's columns are kernel values k(graph, random graph), so their inner products are the square
of that kernel's operator: directions in which graphs differ much are counted twice over. Divided by
the root of their length, directions have the kernel itself as inner products, as in the method of
Nystroem (Williams and Seeger 2001), up to a floor that keeps noise small.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

import graphmover as gm

Floats = NDArray[np.float64]


class DecorrelatedViews(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Vectors of a vectorizer, rotated and rescaled view by view.

    Parameters
    ----------
    vectorizer : GraphVectorizer
    power : float
        Directions of a view have their standard deviations to this power; 1: as they are.
    floor : float
        Variances below this share of the largest count as that much.
    length : float
        The root mean square length of a vector over the training graphs.
    """

    def __init__(
        self,
        vectorizer: gm.GraphVectorizer,
        power: float = 0.5,
        floor: float = 1e-3,
        length: float = 10.0,
    ) -> None:
        self.vectorizer = vectorizer
        self.power, self.floor, self.length = power, floor, length

    def fit(self, X: Any, y: Any = None) -> DecorrelatedViews:
        """Fit the vectorizer and the directions of its views."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit and return the vectors of the training graphs."""
        vectors = np.asarray(self.vectorizer.fit_transform(X))
        widths = [_width(view) for _, view in self.vectorizer.views_]
        self._ends = np.cumsum(widths)[:-1]
        parts = np.split(vectors, self._ends, axis=1)
        self._directions = [
            np.eye(width) if isinstance(view, gm.GraphSizes) else self._of_view(part)
            for (_, view), part, width in zip(self.vectorizer.views_, parts, widths, strict=True)
        ]
        rows = self._rotated(vectors)
        scale = self.length / (_rms(rows) or 1.0)
        self._directions = [scale * directions for directions in self._directions]
        return rows * scale

    def transform(self, X: Any) -> Floats:
        """Return the vectors of graphs."""
        return self._rotated(np.asarray(self.vectorizer.transform(X)))

    def _of_view(self, part: Floats) -> Floats:
        """Return directions as columns, scaled; the view keeps its share of a vector's length."""
        are_few = len(part) < part.shape[1]
        products = part @ part.T if are_few else part.T @ part
        variances, vectors = np.linalg.eigh(products)
        known = variances > 1e-9 * variances[-1]
        variances, vectors = variances[known], vectors[:, known]
        directions = part.T @ (vectors / np.sqrt(variances)) if are_few else vectors
        raised = (variances + self.floor * variances[-1]) ** ((self.power - 1) / 2)
        columns: Floats = directions * raised
        return columns * (_rms(part) / (_rms(part @ columns) or 1.0))

    def _rotated(self, vectors: Floats) -> Floats:
        parts = np.split(vectors, self._ends, axis=1)
        return np.hstack([p @ d for p, d in zip(parts, self._directions, strict=True)])


def _rms(rows: Floats) -> float:
    return float(np.sqrt((rows**2).sum(axis=1).mean()))


def _width(view: Any) -> int:
    return len(view.get_feature_names_out())
