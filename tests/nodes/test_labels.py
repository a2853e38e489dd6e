import enum
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import naive
import numpy as np
import pytest
from graph_zoo import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.nodes.labels import label_codes

hashables = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.fractions()
    | st.decimals(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


def code(*labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return label_codes(array).tolist()


@settings(max_examples=300, deadline=None)
@given(hashables, hashables)
def test_codes_are_equal_exactly_when_labels_are(a, b):
    first, second = code(a, b)
    assert (first == second) == (a == b)


def test_integers_are_their_own_codes_whatever_their_type():
    assert code(6, 6.0, True, np.int8(6), np.float32(6), Fraction(6), Decimal(6)) == [
        6, 6, 1, 6, 6, 6, 6,
    ]  # fmt: skip
    assert label_codes(np.array([3, -1])).tolist() == [3, -1]
    assert len(set(code(2**63, -(2**63), 2**64, 2**80, float("inf")))) == 5


class Element(enum.Enum):
    CARBON = "C"


class Identity:
    pass


def test_objects_need_more_than_an_address():
    assert code(Element.CARBON) == code(Element.CARBON)
    assert code(1 + 0j) == [1]
    for label in (Identity(), lambda: None):
        with pytest.raises(TypeError, match="is identified by its address only"):
            code(label)
    with pytest.raises(ValueError, match="a label holds nan"):
        code((1, float("nan")))


def test_a_label_nested_too_deep_is_an_error_that_names_its_depth():
    for wrap in (lambda part: (part,), lambda part: frozenset([part])):
        label = 0
        for _ in range(2000):
            label = wrap(label)
        with pytest.raises(ValueError, match="nested 2000 levels deep"):
            code(1, label)
        with pytest.raises(ValueError, match="nested 2000 levels deep"):
            gm.embed_nodes(gm.Graph(2, [(0, 1)], node_labels=[1, label]))


def test_codes_are_the_same_in_every_process():
    labels = "['C', ('a', 1), frozenset(['x', 'y', 'z']), 1.5, None, b'q']"
    program = (
        "import numpy as np; from graphmover.nodes.labels import label_codes; "
        f"l = {labels}; a = np.empty(len(l), object); a[:] = l; print(label_codes(a).tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{code('C', ('a', 1), frozenset('xyz'), 1.5, None, b'q')}\n"}
    # Fixed for ever: saved models hold codes.
    assert code("C") == [int.from_bytes(bytes.fromhex(C_CODE), "little", signed=True)]


C_CODE = "4a43fb1b4e585d7b"

FIXED = [6450752709468924820, -7634115498508405648, 6450752709468924820]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.booleans())
def test_refined_labels_partition_nodes_like_weisfeiler_lehman(seed, iterations, labelled):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n, labels=3 if labelled else 0) for n in rng.integers(1, 9, 4)]
    codes = gm.wl_labels(gm.as_graph_batch(graphs), iterations)
    expected = []
    for graph in graphs:
        start = [0] * graph.n_nodes if graph.node_labels is None else graph.node_labels.tolist()
        expected.extend(naive.wl_partition(graph, start, iterations))
    same = np.array([[a == b for b in expected] for a in expected])
    assert ((codes[:, None] == codes[None, :]) == same).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_edge_labels_partition_nodes_like_weisfeiler_lehman(seed, iterations):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n, labels=2) for n in rng.integers(1, 9, 4)]
    expected, rows, codes = [], [], []
    for graph in graphs:
        pairs = [pair for u, v in graph.edges.tolist() for pair in ((u, v), (v, u))]
        labels = {pair: int(rng.integers(0, 2)) for pair in pairs}  # may differ by direction
        rows.append(pairs)
        codes.extend(labels[pair] for pair in pairs)
        start = graph.node_labels.tolist()
        expected.extend(naive.wl_partition(graph, start, iterations, labels))
    batch = gm.GraphBatch.from_edges(
        [graph.n_nodes for graph in graphs],
        [len(pairs) for pairs in rows],
        np.array([pair for pairs in rows for pair in pairs]).reshape(-1, 2),
        node_labels=np.concatenate([graph.node_labels for graph in graphs]),
        edge_labels=codes,
    )
    found = gm.wl_labels(batch, iterations, use_edge_labels=True)
    same = np.array([[a == b for b in expected] for a in expected])
    assert ((found[:, None] == found[None, :]) == same).all()


def test_all_depths_are_the_labels_of_each_depth_and_refine_each_other():
    rng = np.random.default_rng(0)
    batch = gm.as_graph_batch([random_graph(rng, n, labels=2) for n in (5, 9, 30)])
    every = gm.wl_labels(batch, 3, depths="all")
    assert every.shape == (batch.n_nodes, 4)
    for depth in range(4):
        assert (every[:, depth] == gm.wl_labels(batch, depth)).all()
    for coarse, fine in zip(every.T, every.T[1:], strict=False):
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == len(np.unique(fine))


def test_codes_without_edge_labels_are_fixed_for_ever():
    """Saved models hold them."""
    batch = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)], node_labels=[1, 2, 1]))
    assert gm.wl_labels(batch, 2).tolist() == FIXED


def test_edge_labels_must_be_there():
    batch = gm.as_graph_batch(gm.Graph(2, [(0, 1)]))
    with pytest.raises(ValueError, match="use_edge_labels=True, but not all graphs have edge"):
        gm.wl_labels(batch, 1, use_edge_labels=True)
    lonely = gm.as_graph_batch(gm.Graph(2, []))
    assert len(gm.wl_labels(lonely, 1, use_edge_labels=True)) == 2
    with pytest.raises(ValueError, match='depths must be "last" or "all"'):
        gm.wl_labels(batch, 1, depths="first")


def test_bad_iterations():
    batch = gm.as_graph_batch(gm.Graph(1, []))
    with pytest.raises(ValueError, match="iterations must be at least 0, got -1"):
        gm.wl_labels(batch, -1)
    with pytest.raises(TypeError, match="iterations must be an integer"):
        gm.wl_labels(batch, 1.5)
    for endless, shown in ((2**62, 2**62), (1001, 1001), (10**5000, "an integer of 16610 bits")):
        with pytest.raises(ValueError, match=f"iterations must be at most 1000, got {shown}"):
            gm.wl_labels(batch, endless)
    assert len(gm.wl_labels(batch, 1000)) == 1
