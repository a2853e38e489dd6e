import math

import numpy as np
import pytest
from real_data import real_dataset

import graphmover as gm


def test_it_is_the_least_number_that_satisfies_theorem_1():
    for epsilon, delta, d, m, gamma in [(0.1, 0.05, 6, 30, 1.0), (0.5, 0.3, 2, 1, 0.01)]:
        needed = gm.random_graphs_needed(epsilon, delta, d, m, gamma)

        def log_failure(r, epsilon=epsilon, d=d, m=m, gamma=gamma):
            covering = 2 * d * m * math.log(1 + 16 * gamma / epsilon)
            return math.log(2) + covering - r * epsilon**2 / 8

        assert log_failure(needed) <= math.log(delta) < log_failure(needed - 1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"epsilon": 0}, "epsilon must be a positive number, got 0"),
        ({"gamma": math.inf}, "gamma must be a positive number, got inf"),
        ({"delta": 1.5}, "delta must be between 0 and 1, got 1.5"),
        ({"epsilon": "a"}, "epsilon must be a number, got 'a'"),
        ({"epsilon": 1e-200}, "no number of random graphs is that precise"),
        ({"max_nodes": 0}, "max_nodes must be at least 1, got 0"),
        ({"n_dimensions": 1.5}, "n_dimensions must be an integer"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"epsilon": 0.1, "delta": 0.1, "n_dimensions": 6, "max_nodes": 30, "gamma": 1.0}
    with pytest.raises((TypeError, ValueError), match=message):
        gm.random_graphs_needed(**(arguments | change))


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
def test_the_kernels_largest_error_shrinks_like_one_over_the_root_of_r(sampling):
    graphs = real_dataset("MUTAG").graphs[:60]
    sizes = np.array([16, 64, 256, 1024])
    repeats = 6
    embedding = gm.RandomGraphEmbedding(
        32_768, gamma=1.0, sampling=sampling, n_dimensions=4, random_state=0, n_jobs=-1
    )
    features = np.exp(-embedding.fit(graphs).distances(graphs))
    exact = features @ features.T / features.shape[1]
    errors = []
    for size in sizes:
        blocks = [features[:, i * size : (i + 1) * size] for i in range(repeats)]
        errors.append(np.mean([np.abs(b @ b.T / size - exact).max() for b in blocks]))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.12)
    # Theorem 1 is weaker: at these sizes its bound is far above the error observed.
    assert errors[-1] < 0.1
