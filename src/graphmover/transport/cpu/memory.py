"""Memory for the tables of a problem, kept from call to call.

Touching fresh memory for the first time costs more than solving: for one pair of 400 nodes, several
times as much. So every thread keeps its memory, up to a limit.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]

#: How many integers a thread keeps at most (64 MiB); larger tables are released after the call.
MOST_KEPT = 1 << 23

#: A cache line, in integers: tables start at one, so that no vector is spread over two.
_LINE = 8


class _Kept(threading.local):
    def __init__(self) -> None:
        self.block: Table = np.empty(0, np.int64)


_kept = _Kept()


def working_memory(n_tables: int, n_sources: int, stride: int) -> Table:
    """Return tables of shape (n_tables, n_sources * stride), not initialised.

    They belong to this thread until its next call.
    """
    cells = n_sources * stride
    size = n_tables * cells
    block = _kept.block
    if len(block) < size:
        block = _aligned(size)
        if size <= MOST_KEPT:
            _kept.block = block
    return block[:size].reshape(n_tables, cells)


def _aligned(size: int) -> Table:
    block = np.empty(size + _LINE, np.int64)
    skipped = -(block.ctypes.data // block.itemsize) % _LINE
    return block[skipped : skipped + size]
