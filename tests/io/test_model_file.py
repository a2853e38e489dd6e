import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fuzz.model_files import attack, npy, npy_header, zipped
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


def test_a_file_of_an_earlier_version_is_read_bit_for_bit():
    """Written before members were read one by one."""
    file = Path(__file__).with_name("model_format_1.npz")
    loaded = gm.RandomGraphEmbedding.load(file)
    with np.load(file) as arrays:
        for name in ("points", "masses", "offsets", "labels"):
            assert getattr(loaded.random_graphs_, name).tobytes() == arrays[name].tobytes()
        assert loaded.gamma_ == arrays["gamma"]
        parameters = json.loads(str(arrays["parameters"]))
    assert loaded.get_params() == gm.RandomGraphEmbedding().get_params() | parameters
    assert loaded.wl_iterations_ == 1


def members_of(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


LIMITED = """
import resource, sys
import graphmover as gm
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30,) * 2)
try:
    gm.RandomGraphEmbedding.load(sys.argv[1])
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_small_file_takes_little_memory(tmp_path, graphs):
    """3 MB that inflate to 512 MB."""
    pytest.importorskip("resource")
    embedding().fit(graphs).save(tmp_path / "model.npz")
    members = members_of(tmp_path / "model.npz")
    header = npy(np.zeros((2, 4))).replace(b"(2, 4)", b"(16777216, 4)")[:128]
    with zipfile.ZipFile(
        tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        for name, content in members.items():
            if name != "points.npy":
                archive.writestr(name, content)
        with archive.open("points.npy", "w") as file:
            file.write(header)
            for _ in range(512):
                file.write(bytes(2**20))
    assert os.path.getsize(tmp_path / "bomb.npz") < 4e6
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "bomb.npz")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    message, kilobytes = answer.stdout.splitlines()
    assert "is compressed, expected uncompressed members" in message
    assert int(kilobytes) < 50_000


def test_hostile_members_are_named(tmp_path, graphs):
    file = tmp_path / "bad.npz"
    embedding().fit(graphs).save(tmp_path / "model.npz")
    members = members_of(tmp_path / "model.npz")
    arrays = {name: np.load(tmp_path / "model.npz")[name[:-4]] for name in members}
    parameters = json.loads(str(arrays["parameters.npy"]))

    def text(value):
        return npy(np.array(value))

    def header(shape, descr="<f8"):
        description = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
        return npy_header(description.encode(), bytes(64))

    deep = "[" * 10_000 + "]" * 10_000
    for name, content, message in [
        ("wl_iterations", npy(np.array(np.inf)), r"wl_iterations has shape \(\) and type float64"),
        (
            "wl_iterations",
            npy(np.array(2**62)),
            r"wl_iterations is 4611686018427387904, exp",
        ),
        ("wl_iterations", npy(np.array(-1)), r"wl_iterations is -1, expected 0"),
        (
            "gamma",
            npy(np.array(10**400, object), allow_pickle=True),
            "gamma is not an array of num",
        ),
        ("gamma", npy(np.array(np.nan)), "gamma is nan, expected a positive"),
        ("gamma", npy(np.zeros((2, 2))), r"gamma has shape \(2, 2\)"),
        ("points", header("(1000000000, 4)"), r"points has 64 bytes, but its header says shape"),
        ("points", header(f"({2**62}, {2**62})"), r"points has 64 bytes, but its header says"),
        ("points", header("(1, 1)", "<U16"), "points has shape"),
        ("points", header("(4, 1)", "<f16"), "points has the type .*, expected at most 64 bits"),
        ("points", header("()", "<U999999999"), "points has a damaged header"),
        ("points", npy(np.zeros(2, [("a", "f8")])), "points is not an array of numbers or strings"),
        ("points", (tmp_path / "model.npz").read_bytes(), "points is not in NumPy's format"),
        ("labels", npy(np.full(3, 0.5)), r"labels has shape \(3,\) and type float64"),
        # Python 3.14 reads such depths.
        ("parameters", text(deep), "parameters (cannot be read as JSON: max|is not a JSON object)"),
        ("parameters", text("x" * 10**6), "parameters has 1000000 characters, expected at most"),
        ("parameters", text("[]"), "parameters is not a JSON object"),
        ("parameters", text(json.dumps(parameters | {"gamma": 10**400})), "gamma must be"),
        ("parameters", text(json.dumps(parameters | {"random_state": [1]})), "random_state is"),
        ("node_mass", text("x" * 10_000), "node_mass has 10000 characters, expected at most 100"),
        ("node_mass", npy_header(b"x" * 5_000), "node_mass is not in NumPy's format"),
        ("more", npy(np.zeros(1)), "'more' is not part of a model"),
    ]:
        file.write_bytes(zipped({**members, f"{name}.npy": content}.items()))
        with pytest.raises(ValueError, match=rf"bad\.npz is a damaged .*{message}.* save the"):
            gm.RandomGraphEmbedding.load(file)
    for content, message in [
        (zipped([*members.items(), ("gamma.npy", members["gamma.npy"])]), "'gamma' appears twice"),
        (zipped(members.items(), zipfile.ZIP_BZIP2), "'format' is compressed, expected uncompr"),
        (zipped({**members, "version.npy": text("1" * 10**6)}.items()), "version has 1000000 char"),
    ]:
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"bad\.npz is not a graphmover model, .*{message}"):
            gm.RandomGraphEmbedding.load(file)


def test_long_names_in_a_damaged_zip_are_cut(tmp_path, graphs):
    """Where a member's name is damaged, `zipfile` shows all the bytes that it may have."""
    embedding().fit(graphs).save(tmp_path / "model.npz")
    content = bytearray((tmp_path / "model.npz").read_bytes())
    at = content.index(b"version.npy") - 4  # the length of the name
    content[at : at + 2] = b"\xff\x08"
    (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"model.npz .*\(version cannot be read") as caught:
        gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert len(str(caught.value)) < 1_000


def test_what_is_no_regular_file_is_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"is not a graphmover model: it is not a regular file"):
        gm.RandomGraphEmbedding.load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.npz")
        with pytest.raises(ValueError, match=r"pipe.npz is not a graphmover model"):
            gm.RandomGraphEmbedding.load(tmp_path / "pipe.npz")


def test_what_could_not_be_loaded_is_not_saved(tmp_path, graphs):
    model = embedding().fit(graphs)
    model.gamma_ = np.inf
    with pytest.raises(ValueError, match="gamma is inf, expected a positive number"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_fuzzed_models(tmp_path):
    for index in range(300):
        assert attack(np.random.default_rng([0, index]), tmp_path) is None, f"attack {index}"
