import json
import warnings

import numpy as np
import pytest
from graph_zoo import random_graph

import graphmover as gm


@pytest.fixture(scope="module")
def graphs():
    rng = np.random.default_rng(0)
    return gm.as_graph_batch([random_graph(rng, n, labels=3) for n in rng.integers(3, 15, 40)])


def embedding(**parameters):
    return gm.RandomGraphEmbedding(**{"n_components": 16, "random_state": 0} | parameters)


@pytest.mark.parametrize("parameters", [{}, {"sampling": "uniform"}, {"wl_iterations": 2}])
def test_a_loaded_model_is_the_saved_model(tmp_path, graphs, parameters):
    model = embedding(n_components=np.int64(16), **parameters).fit(graphs)
    model.save(tmp_path / "model.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert (loaded.transform(graphs) == model.transform(graphs)).all()
    assert loaded.get_params() == model.get_params()
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


def test_model_names_end_in_npz_and_missing_files_are_named(tmp_path, graphs):
    with pytest.raises(ValueError, match=r"model as .*/m: expected a name that ends in \.npz"):
        embedding().fit(graphs).save(tmp_path / "m")
    with pytest.raises(FileNotFoundError, match=r"^there is no file .*nomodel\.npz$"):
        gm.RandomGraphEmbedding.load(tmp_path / "nomodel.npz")


def test_a_random_generator_is_saved_as_none(tmp_path, graphs):
    model = embedding(random_state=np.random.default_rng(0)).fit(graphs)
    model.save(tmp_path / "model.npz")
    assert gm.RandomGraphEmbedding.load(tmp_path / "model.npz").random_state is None


def test_unreadable_models_are_named(tmp_path, graphs):
    good = tmp_path / "model.npz"
    embedding().fit(graphs).save(good)
    with np.load(good) as file:
        arrays = dict(file)

    def altered(**changes):
        kept = {name: value for name, value in (arrays | changes).items() if value is not None}
        np.savez(tmp_path / "bad.npz", **kept)
        return tmp_path / "bad.npz"

    parameters = json.loads(str(arrays["parameters"]))
    for changes, message in [
        ({"format": 2, "version": "9.9"}, r"has model format 2 \(graphmover 9.9\), but"),
        ({"format": [1]}, "is not a graphmover model, or it is damaged .format has shape"),
        ({"format": "x"}, "is not a graphmover model, or it is damaged .format has shape"),
        ({"labels": None}, "is a damaged graphmover model"),
        ({"offsets": [0, *arrays["offsets"]]}, "is a damaged graphmover model: a random graph has"),
        ({"format": None}, "is not a graphmover model"),
        ({"gamma": None}, "is a damaged graphmover model"),
        ({"gamma": np.nan}, "is a damaged graphmover model: gamma is nan"),
        ({"points": arrays["points"][:-1]}, "is a damaged graphmover model"),
        ({"labels": arrays["labels"][:-1]}, "is a damaged graphmover model"),
        ({"parameters": "{"}, "is a damaged graphmover model"),
        ({"parameters": json.dumps(parameters | {"colour": 1})}, "is a damaged graphmover model"),
        ({"parameters": json.dumps(parameters | {"gamma": -1})}, "is a damaged graphmover model"),
    ]:
        with pytest.raises(ValueError, match=message):
            gm.RandomGraphEmbedding.load(altered(**changes))
    content = good.read_bytes()
    for damaged in (b"", b"not a model", content[: len(content) // 2]):
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"bad.npz is not a graphmover model"):
            gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")
    np.save(tmp_path / "bad.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"bad.npy is not a graphmover model"):
        gm.RandomGraphEmbedding.load(tmp_path / "bad.npy")
    with pytest.raises(FileNotFoundError):
        gm.RandomGraphEmbedding.load(tmp_path / "none.npz")


def test_flipped_bits_give_an_error_or_the_same_model(tmp_path, graphs):
    model = embedding(n_components=4).fit(graphs)
    model.save(tmp_path / "model.npz")
    content = (tmp_path / "model.npz").read_bytes()
    expected = model.transform(graphs)
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(content), 150):
        flipped = bytearray(content)
        flipped[position] ^= 1 << rng.integers(8)
        (tmp_path / "flipped.npz").write_bytes(flipped)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = gm.RandomGraphEmbedding.load(tmp_path / "flipped.npz")
        except ValueError:
            continue
        assert (loaded.transform(graphs) == expected).all()
