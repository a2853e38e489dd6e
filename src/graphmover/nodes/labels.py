"""Labels as 64-bit codes, and Weisfeiler-Lehman refinement (Shervashidze et al. 2011).

A code is the same in every process and on every machine. So a fitted model needs no
dictionary of labels, and a label never seen in ``fit`` simply differs from all others.
An integer that fits 64 bits is its own code; everything else is hashed. Two of k
different labels share a code with probability below k**2 / 2**65.
"""

from __future__ import annotations

import hashlib
import numbers
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.hashing import GOLDEN, mix64
from graphmover.graphs.adjacency import neighbours
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch

_INT64 = np.iinfo(np.int64)

#: Refinement of a graph of n nodes changes nothing after n - 1 iterations.
MOST_ITERATIONS = 1000


def label_codes(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return one stable 64-bit code per label; equal labels have equal codes.

    Parameters
    ----------
    labels : ndarray of int64 or object
        As in ``GraphBatch.node_labels`` and ``edge_labels``.
    """
    if labels.dtype.kind == "i":
        return labels.astype(np.int64)
    codes: dict[Any, int] = {}
    for label in labels:
        if label not in codes:
            try:
                codes[label] = _code(label)
            except RecursionError:
                raise ValueError(
                    f"a label is a tuple or frozenset nested {_depth(label)} levels deep, "
                    f"which is too deep: use labels of fewer levels"
                ) from None
    return np.array([codes[label] for label in labels], dtype=np.int64)


def coarsest_labels(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return codes as they are, or the column of them before any refinement."""
    return labels if labels.ndim == 1 else labels[:, 0]


def n_without_any_of(
    known: NDArray[np.int64], labels: NDArray[np.int64], offsets: NDArray[np.int64]
) -> int:
    """Return how many graphs have none of the known codes, which increase; all have nodes."""
    codes = coarsest_labels(labels)
    places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    is_known = np.logical_or.reduceat(known[places] == codes, offsets[:-1])
    return int((~is_known).sum())


def _depth(label: Any) -> int:
    """Count the levels of nested tuples and frozensets, without recursion."""
    depth, level = 0, [label]
    while level := [part for part in level if isinstance(part, tuple | frozenset)]:
        depth += 1
        level = [inner for part in level for inner in part]
    return depth


def _code(label: Any) -> int:
    content = _content(label)
    if isinstance(content, int):
        return content
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def _content(label: Any) -> int | bytes:
    """Return an integer or bytes that are equal exactly when labels compare as equal."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, numbers.Complex) and label.imag == 0:
        label = label.real
    if isinstance(label, numbers.Real | Decimal):
        return _number_content(label)
    if isinstance(label, str):
        return b"str:" + str.__str__(label).encode("utf-8", "surrogatepass")
    if isinstance(label, bytes):
        return b"bytes:" + bytes(label)
    if label is None:
        return b"none"
    if isinstance(label, tuple | frozenset):
        parts = [_code(part).to_bytes(8, "little", signed=True) for part in label]
        if isinstance(label, frozenset):
            return b"set:" + b"".join(sorted(parts))
        return b"tuple:" + b"".join(parts)
    if " at 0x" in repr(label):
        raise TypeError(
            f"the label {label!r} is identified by its address only, which changes from one "
            f"process to the next: use numbers, strings or tuples as labels"
        )
    return f"{type(label).__module__}.{type(label).__qualname__}:{label!r}".encode()


def _number_content(label: Any) -> int | bytes:
    """6, 6.0 and Fraction(6) are equal, hence one label: compare exact ratios."""
    if label != label:  # noqa: PLR0124 - the definition of NaN
        raise ValueError(f"a label holds {label!r}, which equals no label, not even itself")
    try:
        numerator, denominator = label.as_integer_ratio()
    except OverflowError:
        return b"infinity" if label > 0 else b"-infinity"
    if denominator == 1 and _INT64.min <= numerator <= _INT64.max:
        return int(numerator)
    return b"ratio:%x/%x" % (numerator, denominator)


def wl_labels(
    graphs: Any,
    iterations: int,
    *,
    depths: Literal["last", "all"] = "last",
    use_edge_labels: bool = False,
) -> NDArray[np.int64]:
    """Refine node labels by those of their neighbours (Weisfeiler-Lehman).

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes
        Graphs without node labels start from one label for all nodes: the first
        iteration then distinguishes degrees.
    iterations : int
        How many times each node's label is replaced by a code of the label itself and of
        the multiset of its neighbours' labels; 0 returns the codes of the labels themselves.
        At most 1000.
    depths : {"last", "all"}
        "last": the labels after all iterations. "all": those after 0, 1, ..., ``iterations``
        iterations, a column each; every column refines the one before it.
    use_edge_labels : bool
        Whether neighbours along edges with different labels are told apart. The label of the
        entry v -> w counts for v.

    Returns
    -------
    ndarray of shape (number of nodes,) or (number of nodes, iterations + 1)
        64-bit codes; those of graph i are ``batch.offsets[i]`` to ``batch.offsets[i + 1]``.

    Examples
    --------
    >>> import graphmover as gm
    >>> path = gm.Graph(3, [(0, 1), (1, 2)])
    >>> ends_and_middle = gm.wl_labels(path, 1)
    >>> bool(ends_and_middle[0] == ends_and_middle[2] != ends_and_middle[1])
    True
    >>> gm.wl_labels(path, 2, depths="all").shape
    (3, 3)
    """
    require_integer("iterations", iterations, least=0, most=MOST_ITERATIONS)
    if depths not in ("last", "all"):
        raise ValueError(f'depths must be "last" or "all", got {depths!r}')
    batch = as_graph_batch(graphs)
    if batch.node_labels is None:
        labels = np.zeros(batch.n_nodes, dtype=np.uint64)
    else:
        labels = label_codes(batch.node_labels).view(np.uint64)
    columns = [labels]
    if iterations:
        beside = neighbours(batch)
        along = _edge_codes(batch) if use_edge_labels else None
    for _ in range(iterations):
        around = _scramble(labels)[beside]
        if along is not None:
            around = _scramble(around ^ along)
        # The sum of scrambled codes is a hash of the multiset, without sorting.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(around)])
        around = sums[batch.indptr[1:]] - sums[batch.indptr[:-1]]
        labels = _scramble(labels * np.uint64(3) + _scramble(around))
        columns.append(labels)
    if depths == "all":
        return np.stack(columns, axis=1).view(np.int64)
    return labels.view(np.int64)


def _edge_codes(batch: GraphBatch) -> NDArray[np.uint64]:
    """Return scrambled codes of the labels beside ``indices``."""
    if batch.edge_labels is None:
        if len(batch.indices):
            raise ValueError("use_edge_labels=True, but not all graphs have edge labels")
        return np.zeros(0, np.uint64)
    # Scrambled twice: an edge's label never meets a node's in the same disguise.
    return _scramble(_scramble(label_codes(batch.edge_labels).view(np.uint64)))


def _scramble(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    scrambled: NDArray[np.uint64] = mix64(codes + GOLDEN)
    return scrambled
