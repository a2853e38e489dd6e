"""Indexes of graphs in files: what is loaded finds what was saved, and damage is seen."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

import graphmover as gm

EMBEDDINGS = {
    "labels": gm.RandomGraphEmbedding(
        8, node_embedding=None, wl_iterations=2, wl_depths="all", max_random_nodes=None
    ),
    "paper": gm.RandomGraphEmbedding(8),
    "composed": gm.RandomGraphEmbedding(
        8, node_embedding="structure,degree:2", smoothing=1, node_mass="equal"
    ),
}


@pytest.fixture(scope="module")
def graphs():
    return gm.make_graph_families(40, random_state=0).graphs


@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize("ids", [None, range(30), ["é" * i for i in range(30)]])
def test_a_loaded_index_finds_the_same(tmp_path, graphs, name, ids):
    named = graphs[:30] if ids is None else graphs[:30].with_ids(ids)
    near = gm.NearestGraphs(4, radius=0.5, embedding=EMBEDDINGS[name], random_state=0).fit(named)
    near.save(tmp_path / "library.index")
    loaded = gm.NearestGraphs.load(tmp_path / "library.index")
    assert loaded.n_neighbors == 4 and loaded.radius == 0.5
    assert isinstance(loaded.embedding, FrozenEstimator)
    for queries in (graphs[25:], None):
        for one, other in zip(near.kneighbors(queries), loaded.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(near.ids_, loaded.ids_)
    assert (near.ids_ is None) == (loaded.ids_ is None)
    for one, other in zip(
        near.add(graphs[30:]).kneighbors(), loaded.add(graphs[30:]).kneighbors(), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    loaded.save(tmp_path / "library.index")  # over the file that is mapped
    assert gm.NearestGraphs.load(tmp_path / "library.index").n_samples_fit_ == 40


def test_nodes_are_mapped_and_aligned(tmp_path, graphs):
    near = gm.NearestGraphs(embedding=EMBEDDINGS["paper"], random_state=0).fit(graphs)
    near.save(tmp_path / "library.index")
    nodes = gm.NearestGraphs.load(tmp_path / "library.index").nodes_
    for array in (nodes.points, nodes.masses, nodes.offsets):
        assert not array.flags.owndata and not array.flags.writeable
        assert array.ctypes.data % 64 == 0
    with np.load(tmp_path / "library.index") as file:  # a plain .npz file
        np.testing.assert_array_equal(file["points"], near.nodes_.points)


def test_graphs_without_nodes_are_kept(tmp_path):
    with pytest.warns(UserWarning, match="no nodes"):
        near = gm.NearestGraphs(2, embedding=EMBEDDINGS["paper"], random_state=0).fit(
            [gm.Graph(0, []), gm.Graph(2, [(0, 1)]), gm.Graph(3, [(0, 1)])]
        )
    near.save(tmp_path / "library.index")
    loaded = gm.NearestGraphs.load(tmp_path / "library.index")
    assert loaded.kneighbors()[1].tolist() == [[1, 2], [2, 0], [1, 0]]


@pytest.mark.parametrize("name", ["labels", "paper"])
def test_damage_is_an_error(tmp_path, graphs, name):
    file = tmp_path / "library.index"
    near = gm.NearestGraphs(embedding=EMBEDDINGS[name], random_state=0).fit(
        graphs.with_ids(range(40))
    )
    near.save(file)
    whole, expected = file.read_bytes(), near.kneighbors(n_neighbors=3)
    rng = np.random.default_rng(0)
    n_errors = 0
    for place in rng.integers(len(whole), size=60):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        file.write_bytes(damaged)
        try:
            found = gm.NearestGraphs.load(file).kneighbors(n_neighbors=3)
        except ValueError as error:
            assert str(file) in str(error)
            n_errors += 1
        else:  # a bit of padding, or of a date
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)
    assert n_errors > 40
    for n_bytes in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:n_bytes])
        with pytest.raises(ValueError, match=r"library\.index is not an index of graphs"):
            gm.NearestGraphs.load(file)


def _changed(near, tmp_path, **changes):
    """Write the file of an index in which some arrays are others, with right checksums."""
    from graphmover.io.stored_arrays import write_aligned

    near.save(tmp_path / "good.index")
    with np.load(tmp_path / "good.index") as file:
        arrays = {name: file[name] for name in file.files} | changes
    with open(tmp_path / "bad.index", "wb") as file:
        write_aligned(file, {name: array for name, array in arrays.items() if array is not None})
    return tmp_path / "bad.index"


def test_arrays_that_do_not_fit_are_errors(tmp_path, graphs):
    near = gm.NearestGraphs(embedding=EMBEDDINGS["paper"], random_state=0).fit(graphs)
    nodes, pivots = near.nodes_, near._library.pivots
    falling = nodes.offsets.copy()
    falling[3] = falling[2] - 1
    points = nodes.points.copy()
    points[5, 1] = np.nan
    for changes, message in [
        ({"offsets": falling}, "offsets decrease"),
        ({"offsets": nodes.offsets[:-1]}, "offsets do not lead"),
        ({"points": points}, "not finite"),
        ({"points": nodes.points[:, :2]}, "2 dimensions, expected 4"),
        ({"points": nodes.points.astype(np.float32)}, "float32"),
        ({"masses": -nodes.masses}, "mass"),
        ({"masses": nodes.masses[1:]}, "masses"),
        ({"pivots": pivots[1:]}, "pivots has the shape"),
        ({"pivots": -pivots}, "negative"),
        ({"pivots": pivots[:, :0]}, "pivots has the shape"),
        ({"ids": np.frombuffer(b"[1, 2]", np.uint8)}, "list of 40"),
        ({"ids": np.frombuffer(b"[" * 5, np.uint8)}, "Expecting"),
        ({"parameters": np.array('{"n_neighbors": 0}')}, "n_neighbors"),
        ({"parameters": np.array('{"colour": 1}')}, "'colour' is not a parameter"),
        ({"model_gamma": None}, "gamma is missing"),
        ({"surprise": np.array(1)}, "'surprise' is not part of an index"),
        ({"index": np.array(2)}, "index format 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            gm.NearestGraphs.load(_changed(near, tmp_path, **changes))


def test_files_of_other_kinds_are_named(tmp_path, graphs):
    near = gm.NearestGraphs(embedding=EMBEDDINGS["paper"], random_state=0).fit(graphs)
    near.save(tmp_path / "library.npz")
    with pytest.raises(ValueError, match=r"load it with NearestGraphs\.load"):
        gm.RandomGraphEmbedding.load(tmp_path / "library.npz")
    near.embedding_.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="it is a model without graphs"):
        gm.NearestGraphs.load(tmp_path / "model.npz")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        gm.NearestGraphs.load(tmp_path / "none.index")
    with pytest.raises(ValueError, match="not a regular file"):
        gm.NearestGraphs.load(tmp_path)


def test_a_callable_cannot_be_saved(tmp_path, graphs):
    def points(batch):
        return [np.ones((graph.n_nodes, 1)) for graph in batch]

    embedding = gm.RandomGraphEmbedding(4, node_embedding=points)
    near = gm.NearestGraphs(2, embedding=embedding, random_state=0).fit(graphs)
    assert near.kneighbors(graphs[:1])[1].tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="pickle"):
        near.save(tmp_path / "library.index")
    assert not list(tmp_path.iterdir())
