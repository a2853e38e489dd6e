"""Arrays and tensors: adjacency matrices, edge indices, and what could be either."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import graphmover as gm

EDGES = [(0, 1), (1, 2), (2, 3)]
BOTH_WAYS = np.array([*EDGES, *((v, u) for u, v in EDGES)]).T
PATH = gm.as_graph_batch(gm.Graph(4, EDGES))
AMBIGUOUS = [[[0, 1], [1, 2]], [[0, 0], [1, 2]], [[1, 0], [0, 1]], [[0, 0], [0, 0]]]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_integers_in_two_rows_are_an_edge_index(dtype):
    edge_index = BOTH_WAYS.astype(dtype)
    assert gm.as_graph_batch(edge_index) == PATH
    assert len(gm.as_graph_batch([edge_index, gm.Graph(2, [])])) == 2
    assert gm.as_graph_batch(np.zeros((2, 0), dtype)).node_counts.tolist() == [0]
    assert gm.as_graph_batch(np.array([[3], [3]], dtype)).node_counts.tolist() == [4]


@pytest.mark.parametrize("entries", AMBIGUOUS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_two_by_two_integers_are_ambiguous(entries, dtype):
    matrix = np.array(entries, dtype)
    message = "graph 1: .*adjacency matrix of two nodes or an edge index of two edges: .*gm.Graph"
    with pytest.raises(ValueError, match=message):
        gm.as_graph_batch([gm.Graph(1, []), matrix])


def test_both_remedies_of_two_by_two_integers():
    matrix = np.array([[0, 3], [3, 0]])
    one_edge = gm.as_graph_batch(gm.Graph(2, [(0, 1)], edge_weights=[3]))
    assert gm.as_graph_batch(matrix.astype(float)) == one_edge
    assert gm.as_graph_batch(sp.csr_array(matrix)) == one_edge
    two_edges = gm.Graph(4, np.array([[0, 1], [1, 2]]).T)
    assert two_edges.edges.tolist() == [[0, 1], [1, 2]]


def test_two_by_two_integers_that_are_one_graph_either_way():
    assert gm.as_graph_batch(np.array([[0, 1], [1, 0]])) == gm.as_graph_batch(gm.Graph(2, [(0, 1)]))


def test_bad_edge_indices():
    with pytest.raises(ValueError, match=r"\(2, 3\), .*an edge index has integers"):
        gm.as_graph_batch(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"\(3, 2\), .*gm.Graph\(n_nodes, edges\)"):
        gm.as_graph_batch(np.array(EDGES))
    with pytest.raises(ValueError, match=r"edge \(0, -1\) is out of range"):
        gm.as_graph_batch(np.array([[0, 1, 2], [-1, 0, 0]]))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_tensors(torch):
    edge_index = torch.tensor(BOTH_WAYS)
    dense = torch.zeros(4, 4)
    dense[edge_index[0], edge_index[1]] = 1
    for tensor in (
        edge_index,
        dense,
        dense.bool(),
        dense.int(),
        dense.requires_grad_(),
        dense.to_sparse(),
        dense.to_sparse_csr(),
    ):
        assert gm.as_graph_batch(tensor) == PATH
        assert gm.as_graph_batch([tensor]) == PATH
    assert gm.as_graph_batch(torch.stack([dense, dense])).node_counts.tolist() == [4, 4]
    weighted = gm.as_graph_batch((2 * dense).to_sparse())
    assert weighted.edge_weights.tolist() == [2] * 6


def test_bad_tensors(torch):
    with pytest.raises(ValueError, match="an adjacency matrix of two nodes or an edge index"):
        gm.as_graph_batch(torch.tensor(AMBIGUOUS[0]))
    for tensor, message in [
        (torch.zeros(2, 3), "square"),
        (torch.zeros(2, 3).to_sparse(), "square"),
        (torch.zeros(3), r"shape \(3,\), expected"),
        (torch.zeros(3, 3).cfloat(), "complex64, expected real"),
        (torch.eye(3).cfloat().to_sparse(), "complex64, expected real"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            gm.as_graph_batch(tensor)


def test_pyg_batches_and_loaders_are_the_graphs_in_them(torch):
    data = pytest.importorskip("torch_geometric.data")
    loader = pytest.importorskip("torch_geometric.loader")
    graphs = [
        data.Data(
            edge_index=torch.tensor(BOTH_WAYS), x=torch.full((4, 2), float(k)), y=torch.tensor([k])
        )
        for k in range(5)
    ]
    expected = gm.as_graph_batch(
        [gm.Graph(4, EDGES, node_attributes=np.full((4, 2), k)) for k in range(5)]
    )
    assert gm.as_graph_batch(data.Batch.from_data_list(graphs)) == expected
    assert gm.as_graph_batch(loader.DataLoader(graphs, batch_size=2)) == expected
    assert gm.as_graph_batch([data.Batch.from_data_list(graphs[:4]), graphs[4]]) == expected
    assert gm.read_graphs(loader.DataLoader(graphs, batch_size=2)).graphs == expected
    sizes = [len(part) for part in gm.iter_batches(loader.DataLoader(graphs, batch_size=2), 3)]
    assert sizes == [3, 2]


def test_arrays_do_not_import_torch():
    code = (
        "import sys, numpy as np, graphmover as gm; gm.as_graph_batch(np.array([[0], [1]]));"
        "print('torch' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
