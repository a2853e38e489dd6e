"""Hashes of 64-bit integers."""

from __future__ import annotations

from typing import Any

import numpy as np

#: 2**64 over the golden ratio, made odd: its multiples modulo 2**64 are evenly spread.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix64(x: Any) -> Any:
    """Apply the finalizer of SplitMix64 (Steele, Lea and Flood 2014), a bijection.

    It takes arrays of uint64; compiled by Numba, also single numbers.
    """
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
