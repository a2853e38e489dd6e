"""Small batches with all that a batch can carry, and how two are compared."""

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
    arrays = ("offsets", "indptr", "indices", "adjacency_weights", "node_labels", "node_attributes")
    for name in arrays:
        x, y = getattr(one, name), getattr(other, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.dtype == y.dtype and x.shape == y.shape, name
            assert (x == y).all(), name


def batch_with(labels=None, attributes=None, weights=None):
    return gm.GraphBatch.from_edges(
        [2, 0, 1],
        [1, 0, 0],
        [(0, 1)],
        node_labels=labels,
        node_attributes=attributes,
        edge_weights=weights,
    )
