"""graph6 and sparse6: a graph per line, without labels, read by networkx."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import Record, chunks_of
from graphmover.io.networkx_files import networkx_library, record_of
from graphmover.io.reading import Reading

_HEADERS = (b">>graph6<<", b">>sparse6<<")

#: Memory that networkx takes for a node, a bit that is set, which is an edge in graph6, and a
#: character, measured, rounded up.
_PER_NODE, _PER_BIT, _PER_CHARACTER = 500, 250, 30

#: From the characters of a line to the six bits that each stands for.
_BITS = bytes(max(byte - 63, 0) for byte in range(256))


def read_graph6(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of a file; a line of either format may be in either kind of file."""
    nx = networkx_library("graph6")
    how.require_no_direction(f"{path}: graphs in graph6")

    def graph_of(text: bytes, where: str) -> Any:
        try:
            n_nodes = _n_nodes(text.removeprefix(b":"))
            how.limit.require(_n_bytes(text, n_nodes), f"a graph of {n_nodes} nodes", where)
            read = nx.from_sparse6_bytes if text.startswith(b":") else nx.from_graph6_bytes
            return read(text)
        except Exception as error:  # networkx raises all kinds on malformed input
            reason = str(error).removeprefix(f"{where}: ")
            raise ValueError(
                f"{where}: {reason[:200]}, expected a graph in graph6 or sparse6"
            ) from error

    def records() -> Iterator[Record]:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                text = line.strip()
                for header in _HEADERS:
                    text = text.removeprefix(header)
                if text:
                    where = f"{path}, line {number}"
                    yield from record_of(partial(graph_of, text, where), number, where, how)

    return chunks_of(records(), path, how)


def _n_bytes(text: bytes, n_nodes: int) -> int:
    n_bits = int.from_bytes(text.translate(_BITS), "big").bit_count()
    return _PER_NODE * n_nodes + _PER_BIT * n_bits + _PER_CHARACTER * len(text)


def _n_nodes(text: bytes) -> int:
    """Return the number of nodes that a line declares, before any memory is taken for it."""
    digits = [byte - 63 for byte in text[:8]]
    if not digits or not all(0 <= digit < 64 for digit in digits):
        raise ValueError("a character is not one of those from ? to ~")
    if digits[0] < 63:
        return digits[0]
    long = digits[1:2] == [63]
    number = 0
    for digit in digits[2:8] if long else digits[1:4]:
        number = number << 6 | digit
    return number
