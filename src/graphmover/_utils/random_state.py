"""Random generators from scikit-learn's ``random_state``."""

from __future__ import annotations

import numpy as np

from graphmover._utils.checks import shown

RandomState = int | np.random.Generator | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Turn a ``random_state`` as in scikit-learn into a generator, never the global one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    if isinstance(random_state, bool) or not (
        random_state is None or isinstance(random_state, int | np.integer | np.random.Generator)
    ):
        raise TypeError(
            f"random_state must be an integer, None, a numpy Generator or a RandomState, "
            f"got {random_state!r}"
        )
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(f"random_state must not be negative, got {shown(random_state)}")
    return np.random.default_rng(random_state)
