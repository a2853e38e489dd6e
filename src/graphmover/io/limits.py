"""How much memory reading may take, so that a small file cannot ask for gigabytes.

Compressed and run-length encoded files declare far more than they store. Readers estimate what
the graphs take before they make arrays of them, and compare it with the size of the file.
"""

from __future__ import annotations

from pathlib import Path

from graphmover._utils.checks import require_integer
from graphmover.io.many_files import files_of

#: Without ``max_bytes``, reading may take this much, or this many times the size of the file.
LEAST_LIMIT = 10**9
_BYTES_PER_STORED_BYTE = 1000

#: Characters of a SMILES without ``max_smiles``: RDKit's time is quadratic in the length, and takes
#: 10 seconds for this many.
LONGEST_SMILES = 50_000

#: The peak of building a `GraphBatch`, measured, rounded up.
_PER_GRAPH, _PER_NODE, _PER_ENTRY = 48, 64, 140
#: A Python object per value: a label, or a number of a tuple of labels.
PER_OBJECT = 64


class Limit:
    """The most memory that reading a file, or the files of a folder, may take.

    Parameters
    ----------
    source : path
    max_bytes : int or None
        None: `LEAST_LIMIT`, or 1000 times the size of the source if that is more.
    max_smiles : int or None
        The most characters of a SMILES; None: `LONGEST_SMILES`.
    stored : int, optional
        The size of the source, if that is known.
    """

    def __init__(
        self,
        source: Path,
        max_bytes: int | None = None,
        max_smiles: int | None = None,
        *,
        stored: int | None = None,
    ) -> None:
        check_limits(max_bytes, max_smiles)
        self.source = source
        self.stored = _stored_bytes(source) if stored is None else stored
        self.longest_smiles = max_smiles or LONGEST_SMILES
        self.most = max_bytes or max(LEAST_LIMIT, _BYTES_PER_STORED_BYTE * self.stored)

    def require(self, n_bytes: int, what: str, where: str | None = None) -> None:
        """Raise a ValueError if ``what`` takes more than the limit."""
        if n_bytes > self.most:
            raise ValueError(
                f"{where or self.source}: {what} would take about {_words(n_bytes)} of memory, "
                f"but {self.stored} bytes are stored and the limit is {_words(self.most)}; if you "
                f"trust the source, pass max_bytes={n_bytes} or more"
            )


def check_limits(max_bytes: int | None, max_smiles: int | None = None) -> None:
    """Reject limits that are neither None nor positive integers."""
    for name, value in {"max_bytes": max_bytes, "max_smiles": max_smiles}.items():
        if value is not None:
            require_integer(name, value, least=1)


def graph_bytes(n_graphs: int, n_nodes: int, n_entries: int) -> int:
    """Estimate the peak of building a batch; an edge listed at both ends is two entries."""
    return _PER_GRAPH * n_graphs + _PER_NODE * n_nodes + _PER_ENTRY * n_entries


def _stored_bytes(source: Path) -> int:
    try:
        return sum(file.stat().st_size for file in files_of(source))
    except OSError:
        return 0


def _words(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 10**8 else f"{n_bytes} bytes"
