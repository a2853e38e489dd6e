"""Vectors inside compiled code, of widths that are no power of two among them."""

import numpy as np
import pytest
from numba import njit

from graphmover.transport.cpu.lanes import (
    bits,
    load,
    lowest_bit,
    minimum,
    minimum_of_positive,
    multiply_add,
    narrow,
    nearest_integer,
    numbers,
    select,
    smallest,
    splat,
    splat_like,
    square_root,
    store,
)

WIDTHS = [1, 8, 24, 32, 48, 63, 64]


@njit
def _integers(lanes, x, y, out):
    a, b, width = load(lanes, x, 1), load(lanes, y, 0), len(lanes)
    store(out, 0, a + b)
    store(out, width, a - b)
    store(out, 2 * width, minimum(a, b))
    store(out, 3 * width, minimum_of_positive(a & splat(lanes, (1 << 62) - 1), splat(lanes, 7)))
    store(out, 4 * width, select(a < b, numbers(lanes), splat(lanes, -1)))
    store(out, 5 * width, (a >> splat(lanes, 3)) | (splat(lanes, 1) << numbers(lanes)))
    return bits(a < b), bits(a == b), smallest(a), smallest(narrow(a >> splat(lanes, 33)))


@pytest.mark.parametrize("width", WIDTHS)
def test_integers(width):
    rng = np.random.default_rng(width)
    x = rng.integers(-(2**61), 2**61, width + 1)
    y = rng.integers(-(2**61), 2**61, width)
    y[0] = x[1]
    out = np.empty((6, width), np.int64)
    less, same, least, least_high = _integers((0,) * width, x, y, out.reshape(-1))
    x = x[1:]
    lane = np.arange(width)
    assert (out[0] == x + y).all() and (out[1] == x - y).all()
    assert (out[2] == np.minimum(x, y)).all()
    assert (out[3] == np.minimum(x & (1 << 62) - 1, 7)).all()
    assert (out[4] == np.where(x < y, lane, -1)).all()
    assert (out[5] == (x >> 3) | (np.int64(1) << lane)).all()
    assert [less >> k & 1 for k in range(width)] == list(x < y)
    assert [same >> k & 1 for k in range(width)] == list(x == y)
    assert least == x.min() and least_high == (x >> 33).min()


@njit
def _least_of_positive(lanes, x, y, out):
    store(out, 0, minimum_of_positive(load(lanes, x, 0), load(lanes, y, 0)))


def test_integers_up_to_the_largest_path_compare_as_floats_do():
    edges = np.array([0, 1, 2, (1 << 52) - 1, 1 << 52, 1 << 60, 1 << 61, 1 << 62])
    largest = (1 << 62) + (1 << 61)
    x = np.append(np.unique(np.concatenate([edges, edges + 1, edges[1:] - 1])), largest)
    for y in x:
        out = np.empty(len(x), np.int64)
        _least_of_positive((0,) * len(x), x, np.full(len(x), y), out)
        assert (out == np.minimum(x, y)).all()


@njit
def _floats(lanes, x, out):
    a, width = load(lanes, x, 0), len(lanes)
    store(out, 0, square_root(a))
    store(out, width, multiply_add(a, a, splat_like(a, 0.5)))


@njit
def _rounded(lanes, x, out):
    store(out, 0, nearest_integer(load(lanes, x, 0)))


@pytest.mark.parametrize("width", WIDTHS)
def test_floats(width):
    x = np.random.default_rng(width).random(width) * 2.0**48
    out = np.empty((2, width))
    _floats((0,) * width, x, out.reshape(-1))
    assert (out[0] == np.sqrt(x)).all()
    np.testing.assert_allclose(out[1], x * x + 0.5, rtol=1e-15)
    x[0] = 2.0**51
    integers = np.empty(width, np.int64)
    _rounded((0,) * width, x, integers)
    assert (integers == np.rint(x)).all()


@njit
def _lowest(word):
    return lowest_bit(word)


def test_lowest_bits():
    assert [_lowest(1 << k) for k in range(63)] == list(range(63))
