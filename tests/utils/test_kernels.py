"""Kernels that are compiled as a whole: same results, fewer copies, ended by Ctrl-C."""

import gc
import threading

import numba
import numpy as np
import pytest

from graphmover._utils.cancelling import Cancelled, ending_with
from graphmover._utils.jit import JIT, njit

PLAIN = JIT | {"cache": False}


def new_kernels():
    """Three levels of functions, each of which may be called from Python as well."""

    @njit(**PLAIN)
    def scaled(x, factor):
        if factor > 1000:
            raise ValueError("the factor is too large")
        return x * factor

    @njit(**PLAIN)
    def total(values, factor):
        result = 0.0
        for value in np.sort(values):
            result += scaled(value, factor) + scaled(value, 2) + scaled(value, 3)
        return result

    @njit(**PLAIN)
    def twice(values, factor):
        return 2 * total(values, factor)

    return scaled, total, twice


VALUES = np.array([3.0, 1.0, 2.0])


def test_every_level_can_be_called_in_any_order():
    for order in (range(3), (2, 1, 0), (1, 2, 0)):
        kernels = new_kernels()
        expected = [12.0, 54.0, 108.0]
        arguments = [(3.0, 4), (VALUES, 4), (VALUES, 4)]
        for level in order:
            assert kernels[level](*arguments[level]) == expected[level]


def test_errors_come_up_from_below():
    _, _, twice = new_kernels()
    with pytest.raises(ValueError, match="the factor is too large"):
        twice(VALUES, 1001)
    assert twice(VALUES, 1) == 72.0


def test_a_function_below_is_compiled_once_for_all_constants():
    scaled, _, twice = new_kernels()
    twice(VALUES, 4)
    assert len(scaled.part.signatures) == 1
    assert not scaled.signatures  # it has no code that Python could call


def test_functions_of_others_can_call_kernels():
    _, total, twice = new_kernels()
    twice(VALUES, 4)

    @numba.njit
    def user(values):
        return total(values, 4) + np.sort(values)[0]

    assert user(VALUES) == 55.0


def test_garbage_is_collected_again():
    _, _, twice = new_kernels()
    twice(VALUES, 4)
    assert gc.isenabled()


def test_a_compilation_that_is_cancelled_ends_and_can_be_repeated():
    _, _, twice = new_kernels()
    cancelled = threading.Event()
    cancelled.set()
    outcomes = []

    def compile_in_vain():
        with ending_with(cancelled):
            try:
                twice(VALUES, 4)
            except Cancelled:
                outcomes.append("cancelled")

    thread = threading.Thread(target=compile_in_vain)
    thread.start()
    thread.join()
    assert outcomes == ["cancelled"]
    assert twice(VALUES, 4) == 108.0
