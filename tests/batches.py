"""Small batches with all that a batch can carry, and how two are compared."""

import numpy as np

import graphmover as gm

LABELS = {
    "int": [3, -1, 2**62],
    "str": ["C", "Ö", ""],
    "surrogate": ["\ud800", "C", "N"],
    "bytes": [b"\x00\xff", b"", b"C"],
    "float": [0.5, -1e300, float("inf")],
    "tuple": [("C", 1), ("C", 2), (("N", None), True)],
    "mixed": [None, "C", 2**70],
}


def assert_same(one, other):
    """Weights that are all 1 may be there or not."""
    names = [name for name in gm.GraphBatch.__slots__ if name != "edge_weights"]
    for name in [*names, "adjacency_weights"]:
        x, y = getattr(one, name), getattr(other, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.dtype == y.dtype and x.shape == y.shape, name
            assert (x == y).all(), name


def batch_with(labels=None, attributes=None, weights=None, **columns):
    return gm.GraphBatch.from_edges(
        [2, 0, 1],
        [1, 0, 0],
        [(0, 1)],
        node_labels=labels,
        node_attributes=attributes,
        edge_weights=weights,
        **columns,
    )


def two_way_batch(rng, sizes, *, labels=("a", "b", ("c", 1))):
    """Random graphs in which u -> v and v -> u have different labels and attributes."""
    edges = [np.argwhere(rng.random((n, n)) < 2 / max(n, 2)) for n in sizes]
    pairs = np.concatenate(edges).reshape(-1, 2)
    return gm.GraphBatch.from_edges(
        sizes,
        [len(part) for part in edges],
        pairs,
        edge_labels=[labels[k] for k in rng.integers(0, len(labels), len(pairs))],
        edge_attributes=rng.normal(size=(len(pairs), 2)),
    )
