"""Damaged checkpoints: resuming raises a clear error, or writes the right file."""

import itertools
import json
import os
import shutil
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import graphmover as gm

VALUES = [None, True, False, -1, 0, 1, 1.5, 19, 21, 10**30, float("nan"), "", "x", [], [1], {}]


@cache
def interrupted_run():
    """Return model, data, the files of an interrupted run and the bytes of the right output."""
    data = gm.make_graph_families(30, random_state=0, min_nodes=10, max_nodes=14)
    model = gm.RandomGraphEmbedding(3, random_state=0).fit(data.graphs)

    with TemporaryDirectory() as name:
        folder = Path(name)
        model.transform_to(data, folder / "whole.csv")
        compute = model._features_of_batch
        calls = itertools.count()
        model._features_of_batch = lambda *batch: compute(*batch) if next(calls) < 2 else 1 / 0
        with suppress(ZeroDivisionError):
            model.transform_to(data, folder / "z.csv", batch_size=10)
        del model._features_of_batch
        files = {file.name: file.read_bytes() for file in (folder / "z.csv.part").iterdir()}
        return model, data, files, (folder / "whole.csv").read_bytes()


def flipped(rng, content):
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        if content:
            content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    return bytes(content)


def cut_or_grown(rng, content):
    cut = content[: rng.integers(len(content) + 1)]
    return cut if rng.integers(2) else content + rng.bytes(int(rng.integers(1, 300)))


def retyped(rng, _):
    """Change, drop or add a field of the checkpoint."""
    values = json.loads(interrupted_run()[2]["journal.json"])
    name = list(values)[rng.integers(len(values))]
    kind = rng.integers(8)
    if kind <= 4:
        values[name] = VALUES[rng.integers(len(VALUES))]
    elif kind == 5:
        del values[name]
    elif kind == 6:
        values["more"] = 1
    else:
        return [b"[]", b"null", b"[" * 9_000, b"{" + b" " * 50_000 + b"}"][rng.integers(4)]
    return json.dumps(values).encode()


def attack(rng, folder):
    """Resume from one damaged folder; return what went wrong, or None."""
    model, data, files, expected = interrupted_run()
    output, part = folder / "z.csv", folder / "z.csv.part"
    shutil.rmtree(part, ignore_errors=True)
    output.unlink(missing_ok=True)
    part.mkdir()
    for name, content in files.items():
        (part / name).write_bytes(content)
    for _ in range(rng.integers(1, 3)):
        name = sorted(files)[rng.integers(len(files))]
        changes = [flipped, flipped, cut_or_grown]
        changes += [retyped, retyped] if name == "journal.json" else []
        change = changes[rng.integers(len(changes))]
        (part / name).write_bytes(change(rng, (part / name).read_bytes()))
        if not rng.integers(20):
            os.unlink(part / name)
            break
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.transform_to(data, output)
    except (ValueError, OSError) as error:
        if str(part) not in str(error) or "resume=False" not in str(error):
            return f"no folder or no remedy in {error!r}"
        if output.exists():
            return f"output in spite of {error!r}"
        model.transform_to(data, output, resume=False)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    if output.read_bytes() != expected:
        return "wrong bytes"
    left = sorted(os.listdir(folder))
    return None if left == ["z.csv"] else f"left behind: {left}"
