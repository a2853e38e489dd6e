"""Features of distances, and the scale of gamma."""

import numpy as np
import pytest

from graphmover import features


@pytest.mark.parametrize("size", [1, 2, features._MANY, features._MANY + 1, 3 * features._MANY])
@pytest.mark.parametrize("kind", ["uniform", "ties", "constant", "two", "heavy", "sorted", "waves"])
def test_the_scale_is_that_of_the_median(kind, size):
    rng = np.random.default_rng(size)
    values = {
        "uniform": rng.random(size),
        "ties": rng.integers(1, 5, size) / 4,
        "constant": np.full(size, 0.3),
        "two": np.where(np.arange(size) < size / 2, 0.2, 0.9),  # the median is between both
        "heavy": rng.pareto(0.5, size) + 0.1,
        "sorted": np.linspace(0.1, 2, size),
        # Every value of the sample is the same, and far from the median.
        "waves": np.where(
            np.arange(size) % max(size // features._SAMPLE, 1), rng.random(size), 9.0
        ),
    }[kind]
    distances = np.column_stack([values, values])
    assert features.gamma_scale(distances) == 1 / np.median(distances)
    distances[: size // 10] = np.inf  # graphs without nodes
    finite = distances[np.isfinite(distances)]
    if len(finite):
        assert features.gamma_scale(distances) == 1 / np.median(finite)


def test_equal_graphs_have_no_scale():
    assert features.gamma_scale(np.zeros((3, 4))) == 1.0
