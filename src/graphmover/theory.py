"""Theorem 1: the number of random graphs for a given error of the kernel."""

from __future__ import annotations

import math

import numpy as np

from graphmover._utils.checks import require_integer


def random_graphs_needed(
    epsilon: float, delta: float, n_dimensions: int, max_nodes: int, gamma: float
) -> int:
    """Return a number of random graphs that suffices by Theorem 1.

    With probability at least 1 - ``delta``, the error of the approximate kernel is then at most
    ``epsilon`` for all pairs of graphs with at most ``max_nodes`` nodes at once. It is
    the least R with ``2 (1 + 16 gamma / epsilon)**(2 d M) exp(-R epsilon**2 / 8) <= delta``.
    The bound is uniform over all possible graphs; on a given collection far fewer suffice.

    Parameters
    ----------
    epsilon : float
        Largest error of the kernel, positive.
    delta : float
        Largest probability of failure, between 0 and 1.
    n_dimensions, max_nodes : int
        The paper's d and M.
    gamma : float
        The kernel's bandwidth, positive.

    Returns
    -------
    int

    Examples
    --------
    >>> import graphmover as gm
    >>> gm.random_graphs_needed(0.1, 0.05, n_dimensions=6, max_nodes=30, gamma=1.0)
    1466396
    """
    for name, value in (("epsilon", epsilon), ("delta", delta), ("gamma", gamma)):
        if not isinstance(value, int | float | np.integer | np.floating):
            raise TypeError(f"{name} must be a number, got {value!r}")
    for name, value in (("epsilon", epsilon), ("gamma", gamma)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, got {value!r}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
    for name, number in (("n_dimensions", n_dimensions), ("max_nodes", max_nodes)):
        require_integer(name, number, least=1)
    # log(1 + 16 gamma / epsilon), without a quotient that could overflow.
    log_radius = float(np.logaddexp(0.0, math.log(16) + math.log(gamma) - math.log(epsilon)))
    log_failure = 2 * n_dimensions * max_nodes * log_radius + math.log(2) - math.log(delta)
    needed = 8 * log_failure / epsilon / epsilon if epsilon > 1e-150 else math.inf
    if not math.isfinite(needed):
        raise ValueError(f"epsilon is {epsilon!r}: no number of random graphs is that precise")
    return math.ceil(needed)
