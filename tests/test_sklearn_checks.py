"""scikit-learn's own estimator checks.

They feed matrices of numbers. `RandomGraphEmbedding`, `RandomGraphDistances`, `GraphVectorizer`
and `NearestGraphs` refuse these, as they should, so the checks run on subclasses that turn each
row into a weighted graph and are otherwise the estimators themselves: everything but the reading of
the input is what users run. With that no check is left that cannot apply to graphs.
`DistanceFeatures` takes matrices.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import graphmover as gm
from graphmover import embedding as module

pytestmark = [
    pytest.mark.slow,
    # Some checks have rows of one or two features, whose graphs differ in weights alone.
    pytest.mark.filterwarnings("ignore:all training graphs look the same"),
]


class RowsAsGraphs:
    """Row x becomes a complete graph on the features, edge weight exp(-|x_i - x_j|)."""

    def fit(self, X, y=None):
        return super().fit(self._graphs(X, reset=True))

    def fit_transform(self, X, y=None, **fit_params):
        return super().fit_transform(self._graphs(X, reset=True))

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


class EmbeddingOfRows(RowsAsGraphs, gm.RandomGraphEmbedding):
    def distances(self, X):
        module.check_is_fitted(self)
        return super().distances(self._graphs(X, reset=False))


class VectorsOfRows(RowsAsGraphs, gm.GraphVectorizer):
    pass


class DistancesOfRows(RowsAsGraphs, gm.RandomGraphDistances):
    pass


class NeighborsOfRows(RowsAsGraphs, gm.NearestGraphs):
    pass


def expected_failures(estimator):
    """Distances of graphs without nodes are infinite; NaN is refused."""
    if isinstance(estimator, gm.DistanceFeatures):
        return {"check_estimators_nan_inf": "infinite distances are allowed"}
    return {}


@parametrize_with_checks(
    [
        EmbeddingOfRows(n_components=8, random_state=0),
        EmbeddingOfRows(n_components=8, sampling="uniform", gamma=0.5, n_jobs=2, random_state=0),
        VectorsOfRows(n_components=8, random_state=0),
        VectorsOfRows(
            views=[
                ("points", gm.RandomGraphEmbedding(4)),
                ("sizes", gm.GraphSizes(), 0.5),
            ],
            n_jobs=2,
            random_state=0,
        ),
        DistancesOfRows(n_components=8, random_state=0),
        NeighborsOfRows(2, random_state=0),
        gm.DistanceFeatures(),
        gm.DistanceFeatures(gamma=0.5, n_components=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_the_estimator_itself_refuses_a_matrix_of_samples():
    estimators = (gm.RandomGraphEmbedding(), gm.GraphVectorizer(), gm.NearestGraphs())
    for estimator in (*estimators, gm.GraphSizes()):
        with pytest.raises(ValueError, match=r"graph 0: .* square"):
            estimator.fit(np.zeros((5, 3)))
