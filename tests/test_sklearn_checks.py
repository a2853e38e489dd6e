"""scikit-learn's own estimator checks.

They feed matrices of numbers. `RandomGraphEmbedding` refuses these, as it should, so the
checks run on `RowsAsGraphs`, which turns each row into a weighted graph and is otherwise
the estimator itself: everything but the reading of the input is what users run. With that
no check is left that cannot apply to graphs.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import graphmover as gm
from graphmover import embedding as module

pytestmark = pytest.mark.slow


class RowsAsGraphs(gm.RandomGraphEmbedding):
    """Row x becomes a complete graph on the features, edge weight exp(-|x_i - x_j|)."""

    def fit(self, X, y=None):
        return super().fit(self._graphs(X, reset=True))

    def fit_transform(self, X, y=None, **fit_params):
        return super().fit_transform(self._graphs(X, reset=True))

    def distances(self, X):
        module.check_is_fitted(self)
        return super().distances(self._graphs(X, reset=False))

    def transform(self, X):
        module.check_is_fitted(self)
        return super().transform(self._graphs(X, reset=False))

    def _graphs(self, X, *, reset):
        X = validate_data(self, X, dtype=np.float64, reset=reset)
        return np.exp(-np.abs(X[:, :, None] - X[:, None, :]))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@parametrize_with_checks(
    [
        RowsAsGraphs(n_components=8, random_state=0),
        RowsAsGraphs(n_components=8, sampling="uniform", gamma=0.5, n_jobs=2, random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_the_estimator_itself_refuses_a_matrix_of_samples():
    with pytest.raises(ValueError, match=r"graph 0: .* square"):
        gm.RandomGraphEmbedding().fit(np.zeros((5, 3)))
