"""Damaged and hostile model files: `load` raises a clear error, or gives the same model."""

import io
import json
import struct
import tracemalloc
import warnings
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import graphmover as gm
from graphmover.io.model_file import fingerprint

#: Reading may take this much, and a few times the size of the file.
LIMIT = 50 * 2**20


@cache
def saved_model():
    """Return the members of a saved model, the bytes of the file and the model's fingerprint."""
    data = gm.make_graph_families(40, random_state=0, min_nodes=10, max_nodes=14)
    model = gm.RandomGraphEmbedding(4, wl_iterations=1, random_state=0).fit(data.graphs)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.npz"
        model.save(file)
        with zipfile.ZipFile(file) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        return members, file.read_bytes(), fingerprint(model._fitted_model())


def zipped(members, compression=zipfile.ZIP_STORED):
    """Return a zip of pairs of name and content; names may repeat."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")  # zipfile warns about names that repeat
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def npy(value, *, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, value, allow_pickle=allow_pickle)
    return file.getvalue()


def npy_header(text, data=b"", version=(1, 0)):
    """Return an array file with any header."""
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def one_of(rng, values):
    return values[rng.integers(len(values))]


def flipped(rng, content):
    """Flip bits, cut, insert or repeat bytes anywhere in the file."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(len(content)))
        kind = rng.integers(6)
        if kind <= 2:
            content[at] ^= 1 << rng.integers(8)
        elif kind == 3:
            content[at : at + 4] = rng.bytes(4)
        elif kind == 4:
            del content[at : at + int(rng.integers(1, 50))]
        else:
            content[at:at] = rng.bytes(int(rng.integers(1, 50)))
        content = content or bytearray(b"x")
    return bytes(content)


def strange_array(rng):
    values = [np.nan, np.inf, -1, 2**62, 2**63 - 1, 2.0**1000, True, "x", "", 1j, b"x", 0, 10**400]
    value = one_of(rng, values)
    shape = one_of(rng, [(), (1,), (0,), (3, 2), (0, 7), (1, 1, 1)])
    array = np.full(shape, value, dtype=object if value == 10**400 else None)
    return npy(array, allow_pickle=True)


def strange_header(rng):
    """Return an array file whose header lies about what follows."""
    descr = one_of(rng, ["'<f8'", "'<U1000000'", "'|O'", "'<i8'", "'|V9'", "[('a', '<f8')]", "1"])
    shape = one_of(
        rng,
        ["()", "(1000000000,)", "(9223372036854775807, 9)", "(0, 4611686018427387904)", "(-1,)"]
        + ["(1e9,)", "(" * 300, "None", f"({'9' * 500},)", "(2, 2)"],
    )
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text = one_of(rng, [text, text, "-" * 900 + "1", text + " " * 60_000]).encode() + b"\n"
    version = one_of(rng, [(1, 0), (1, 0), (2, 0), (3, 0), (9, 9)])
    return npy_header(text[: 2**16 - 1], rng.bytes(int(rng.integers(64))), version)


def strange_parameters(rng):
    parameters = json.loads(str(np.load(io.BytesIO(saved_model()[0]["parameters.npy"]))))
    name = one_of(rng, [*parameters, "colour"])
    values = [None, True, -1, 0, 1.5, 10**400, 1e400, float("nan"), "x" * 1000, [], {}, [[[]]]]
    text = json.dumps(parameters | {name: one_of(rng, values)})
    deep = "[" * 10_000 + "]" * 10_000
    text = one_of(
        rng, [text] * 4 + [deep, "{", "[]", "null", '"' + "x" * 300_000 + '"', "1" * 9000]
    )
    return npy(np.array(text))


def lying_sizes(rng, content):
    """Change the sizes and offsets in the directory of a zip."""
    content = bytearray(content)
    at = content.find(b"PK\x01\x02")
    for _ in range(rng.integers(1, 5)):
        entry = at
        for _ in range(rng.integers(13)):
            entry = max(entry, content.find(b"PK\x01\x02", entry + 1))
        field = one_of(rng, [6, 8, 10, 16, 20, 24, 28, 30, 42])
        width = 2 if field in (6, 8, 10, 28, 30) else 4
        value = int(one_of(rng, [0, 1, 8, 99, 2**16 - 1, 2**31 - 1, 2**32 - 1])) % 256**width
        content[entry + field : entry + field + width] = value.to_bytes(width, "little")
    return bytes(content)


@cache
def bomb(compression):
    """Return a model whose points are 64 MB of zeros in a few kilobytes."""
    members = {**saved_model()[0], "points.npy": npy(np.zeros((2**20, 8)))}
    return zipped(members.items(), compression)


def mutated(rng):
    """Return the bytes of a damaged or hostile model file."""
    members, content, _ = saved_model()
    names = list(members)
    name = one_of(rng, names)
    kind = rng.integers(10)
    if kind <= 1:
        return flipped(rng, content)
    if kind == 2:
        return lying_sizes(rng, content)
    if kind == 3:
        return zipped({**members, name: strange_array(rng)}.items())
    if kind == 4:
        return zipped({**members, name: strange_header(rng)}.items())
    if kind == 5:
        return zipped({**members, "parameters.npy": strange_parameters(rng)}.items())
    if kind == 6:
        left = [pair for pair in members.items() if pair[0] != name]
        more = one_of(rng, [name, "other.npy", "../x.npy", "x" * 60_000, "sub/", "points"])
        return zipped(left + [(more, members[name])] * int(rng.integers(3)))
    if kind == 7:
        compression = one_of(rng, [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        return bomb(compression) if rng.integers(2) else zipped(members.items(), compression)
    if kind == 8:
        return zipped({**members, name: one_of(rng, [content, b"", rng.bytes(200)])}.items())
    inner = flipped(rng, members[name])
    return zipped({**members, name: inner}.items())


def attack(rng, folder):
    """Load one mutated file; return what went wrong, or None."""
    file = folder / "hostile.npz"
    content = mutated(rng)
    file.write_bytes(content)
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = gm.RandomGraphEmbedding.load(file)
    except (ValueError, TypeError, OSError) as error:
        if "hostile.npz" not in str(error) or len(str(error)) > 2_000:
            return f"message names no file, or is too long: {error!r:.3000}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    else:
        if not zipfile.is_zipfile(file):
            return "a file that is no zip was loaded"
        with zipfile.ZipFile(file) as archive:
            same = {name: archive.read(name) for name in archive.namelist()} == saved_model()[0]
        if same and fingerprint(loaded._fitted_model()) != saved_model()[2]:
            return "the same arrays give another model"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > LIMIT + 10 * len(content):
        return f"reading {len(content)} bytes took {peak} bytes"
    return None
