"""Changed entries of the cache of parsed sets: what comes back is never out of bounds."""

import io
from contextlib import contextmanager

import numpy as np

import graphmover as gm
from graphmover.datasets import parsed
from graphmover.datasets.families import make_graph_families


def sample(rng):
    """Return a set with everything a set can have."""
    graphs = make_graph_families(2, random_state=int(rng.integers(1000))).graphs
    n, m = graphs.n_nodes, len(graphs.indices)
    graphs = gm.GraphBatch(
        graphs.offsets,
        graphs.indptr,
        graphs.indices,
        node_labels=parsed.as_labels(rng.integers(3, size=(n, rng.integers(1, 3)))),
        node_attributes=rng.random((n, 2)),
        edge_labels=parsed.as_labels(rng.integers(3, size=(m, rng.integers(1, 3)))),
        edge_attributes=rng.random((m, 1)),
    )
    return gm.Dataset("sample", graphs, rng.integers(2, size=len(graphs)))


def wild_numbers(rng, array):
    array = array.copy()
    if array.size and array.dtype.kind in "if":
        places = rng.integers(array.size, size=rng.integers(1, 4))
        wild = [-1, 0, 1, array.size, 2**31 - 1, -(2**31)]
        array.flat[places] = rng.choice(wild, size=len(places))
    return array


def shorter(rng, array):
    return array[: rng.integers(len(array))] if array.ndim and len(array) else array


def longer(rng, array):
    return np.concatenate([array, array[:1]]) if array.ndim else array


def reversed_rows(rng, array):
    return array[::-1] if array.ndim else array


def other_type(rng, array):
    kinds = ["int8", "uint64", ">i8", "float32", "U9", "complex128", "M8[s]", "i4,f8"]
    return np.zeros(array.shape, kinds[rng.integers(len(kinds))])


def other_shape(rng, array):
    shapes = [(1, *array.shape), (*array.shape, 1), (*array.shape, 0), (-1,)]
    shape = shapes[rng.integers(len(shapes))]
    return np.zeros(shape, array.dtype) if 0 in shape else array.reshape(shape)


def scalar(rng, array):
    return np.zeros((), array.dtype)


CHANGES = (
    wild_numbers,
    wild_numbers,
    shorter,
    longer,
    reversed_rows,
    other_type,
    other_shape,
    scalar,
)


def attack(rng, folder):
    """Change an entry in some ways; it is ignored, or what it gives can be computed with."""
    with cache_in(folder):
        dataset, digest = sample(rng), "0" * 64
        parsed.store_parsed(dataset, digest)
        entry = parsed._entry("sample", digest)
        with np.load(entry) as archive:
            arrays = dict(archive)
        for key in rng.choice(list(arrays), size=rng.integers(1, 3)):
            if rng.random() < 0.1:
                del arrays[key]
            else:
                arrays[key] = CHANGES[rng.integers(len(CHANGES))](rng, arrays[key])
            if key not in arrays or rng.random() < 0.05:
                break
        memory = io.BytesIO()
        np.savez(memory, **arrays)
        entry.write_bytes(memory.getvalue())
        loaded = parsed.load_parsed("sample", digest)
    if loaded is not None:
        require_sound(loaded)


def require_sound(dataset):
    graphs = dataset.graphs
    rebuilt = gm.as_graph_batch(list(graphs))  # checks everything again
    assert np.array_equal(rebuilt.offsets, graphs.offsets)
    assert np.array_equal(rebuilt.indptr, graphs.indptr)
    assert np.array_equal(rebuilt.indices, graphs.indices)
    lengths = {len(graphs.indices)}
    assert {
        len(dataset.edge_labels if dataset.edge_labels is not None else graphs.indices)
    } == lengths
    assert dataset.target is None or len(dataset.target) == len(graphs)


@contextmanager
def cache_in(folder):
    before = parsed.cache_folder
    parsed.cache_folder = lambda: folder
    try:
        yield
    finally:
        parsed.cache_folder = before
