"""Unfinished output under attack: several writers, links, foreign files, full disks, damage."""

import errno
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fuzz.checkpoints import attack

import graphmover as gm
from graphmover._utils.files import replacing
from graphmover._utils.locks import only_writer_of
from graphmover.io.output import csv_lines

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX file locks and links")


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(60, random_state=0, min_nodes=10, max_nodes=14)


@pytest.fixture(scope="module")
def model(data):
    return gm.RandomGraphEmbedding(4, random_state=0).fit(data.graphs[:40])


@pytest.fixture(scope="module")
def expected(model, data, tmp_path_factory):
    """The bytes of the right output, by extension."""
    folder = tmp_path_factory.mktemp("expected")
    for extension in ("npy", "csv"):
        model.transform_to(data, folder / f"z.{extension}")
    return {file.suffix[1:]: file.read_bytes() for file in folder.iterdir()}


def interrupt(model, data, output):
    """Leave 40 committed rows."""
    compute = model._features_of_batch
    calls = itertools.count()

    def failing(*batch):
        if next(calls) == 2:
            raise OSError("the disk is gone")
        return compute(*batch)

    model._features_of_batch = failing
    try:
        with pytest.raises(OSError, match="the disk is gone"):
            model.transform_to(data, output, batch_size=20)
    finally:
        del model._features_of_batch
    return output.with_name(f"{output.name}.part")


def names(folder):
    return sorted(file.name for file in folder.iterdir())


# Several writers

WRITER = """
import hashlib, sys, time
import graphmover as gm
model = gm.RandomGraphEmbedding.load(sys.argv[1])
data = gm.make_graph_families(60, random_state=0, min_nodes=10, max_nodes=14)
model.transform(data.graphs)  # compile before the race
print("ready", flush=True)
sys.stdin.readline()
output, end, outcomes = sys.argv[2], time.monotonic() + 3, []
while time.monotonic() < end:
    try:
        model.transform_to(data, output, batch_size=25, overwrite=True)
        with open(output, "rb") as file:
            outcomes.append(hashlib.sha256(file.read()).hexdigest())
    except ValueError as error:
        outcomes.append(str(error)[:27])
print(" ".join(sorted({outcome.replace(" ", "_") for outcome in outcomes})), len(outcomes))
"""


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("extension", ["npy", "csv"])
def test_processes_that_write_one_file_do_not_mix(model, expected, tmp_path, extension):
    import hashlib

    model.save(tmp_path / "model.npz")
    output = tmp_path / f"o.{extension}"
    command = [sys.executable, "-c", WRITER, str(tmp_path / "model.npz"), str(output)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate()[0].split() for process in processes]
    right = hashlib.sha256(expected[extension]).hexdigest()
    assert [process.returncode for process in processes] == [0] * 4
    found = set().union(*(answer[:-1] for answer in answers))
    assert found == {right, "another_process_is_writing_"}
    assert output.read_bytes() == expected[extension]
    assert names(tmp_path) == ["model.npz", output.name]


def test_threads_that_write_one_file_do_not_mix(model, data, expected, tmp_path):
    output = tmp_path / "o.npy"
    outcomes = []

    def write():
        for _ in range(15):
            try:
                model.transform_to(data, output, batch_size=25, overwrite=True)
                outcomes.append(output.read_bytes() == expected["npy"])
            except ValueError as error:
                outcomes.append(f"another process is writing {output}: " in str(error))

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 45 and all(outcomes)
    assert names(tmp_path) == ["o.npy"]


HOLDER = """
import pathlib, sys, time
from graphmover._utils.locks import only_writer_of
with only_writer_of(pathlib.Path(sys.argv[1])):
    print("x", flush=True)
    time.sleep(99)
"""


@posix_only
def test_a_killed_process_releases_its_lock(tmp_path):
    program = "import sys, time, pathlib; from graphmover._utils.locks import only_writer_of\n"
    program += (
        "with only_writer_of(pathlib.Path(sys.argv[1])): print('x', flush=True), time.sleep(99)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "o.npy")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout.read(1) == b"x"
    rejected = pytest.raises(ValueError, match=r"another process is writing .*o\.npy: wait for it")
    with rejected, only_writer_of(tmp_path / "o.npy"):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with only_writer_of(tmp_path / "o.npy"), rejected, only_writer_of(tmp_path / "o.npy"):
        pass
    assert names(tmp_path) == []


@posix_only
def test_a_lock_that_its_holder_has_removed_does_not_count(tmp_path, monkeypatch):
    """A newcomer that opened the file before its removal locks the wrong file, and retries."""
    import fcntl

    output, lock = tmp_path / "o.npy", tmp_path / ".o.npy.lock"
    real, removed = fcntl.flock, []

    def remove_then_lock(descriptor, operation):
        if not removed:
            removed.append(lock.unlink())
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", remove_then_lock)
    with only_writer_of(output):
        assert removed
        with pytest.raises(ValueError, match="another process"), only_writer_of(output):
            pass
    assert names(tmp_path) == []


@posix_only
def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    import fcntl

    def flock(*_):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    named = pytest.raises(
        OSError, match=r"cannot lock: Operation not supported: '.*/\.o\.npy\.lock'"
    )
    with named, only_writer_of(tmp_path / "o.npy"):
        pass
    with replacing(tmp_path / "m") as file:  # drafts have names of their own
        file.write(b"1")
    assert (tmp_path / "m").read_bytes() == b"1"


# Links and foreign files


@posix_only
@pytest.mark.parametrize("name", ["lock", "journal.json", "vectors.npy", "target.jsonl"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("resume", [True, False])
def test_links_in_the_folder_are_not_followed(model, data, tmp_path, name, link, resume):
    part = interrupt(model, data, tmp_path / "z.npy")
    victim = tmp_path / "victim"
    content = (part / name).read_bytes() if (part / name).exists() else b"precious"
    victim.write_bytes(content + b"precious")
    (part / name).unlink(missing_ok=True)
    link(victim, part / name)
    with pytest.raises(ValueError, match=rf"z\.npy\.part holds .*'{name}'. Remove the folder, or"):
        model.transform_to(data, tmp_path / "z.npy", resume=resume)
    assert victim.read_bytes() == content + b"precious"
    assert names(tmp_path) == ["victim", "z.npy.part"]


@posix_only
def test_a_folder_that_is_a_link_or_a_file_is_rejected(model, data, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "z.npy.part").symlink_to("elsewhere")
    (tmp_path / "y.npy.part").write_text("precious")
    (tmp_path / "x.npy.part").symlink_to("nowhere")
    for name in "zyx":
        with pytest.raises(
            ValueError, match=rf"{name}\.npy\.part is a link, or not a folder: remove"
        ):
            model.transform_to(data, tmp_path / f"{name}.npy")
    assert names(tmp_path / "elsewhere") == []
    assert names(tmp_path) == ["elsewhere", "x.npy.part", "y.npy.part", "z.npy.part"]


@pytest.mark.parametrize("resume", [True, False])
def test_foreign_files_are_named_and_kept(model, data, tmp_path, resume):
    part = tmp_path / "z.npy.part"
    (part / "vectors.npy").mkdir(parents=True)
    notes = "notes\n.txt" if os.name == "posix" else "notes.txt"  # Windows allows no line ends
    (part / notes).write_text("precious")
    found = re.escape(f"holds files that are not graphmover's: {notes!r}, 'vectors.npy'")
    with pytest.raises(ValueError, match=rf"z\.npy\.part {found}"):
        model.transform_to(data, tmp_path / "z.npy", resume=resume)
    assert names(part) == [notes, "vectors.npy"]
    shutil.rmtree(part)

    def graphs():
        yield from data.graphs[:20]
        (part / "later.txt").write_text("precious")

    assert model.transform_to(graphs(), tmp_path / "z.npy", batch_size=5) == (20, 4)
    assert names(part) == ["later.txt"]


@posix_only
@pytest.mark.parametrize("make", ["link", "folder", "text", "pipe"])
def test_what_is_no_lock_is_rejected(model, data, tmp_path, make):
    lock = tmp_path / ".z.npy.lock"
    victim = tmp_path / "victim"
    victim.write_text("precious")
    {
        "link": lambda: lock.symlink_to(victim),
        "folder": lock.mkdir,
        "text": lambda: lock.write_text("precious"),
        "pipe": lambda: os.mkfifo(lock),
    }[make]()
    with pytest.raises(ValueError, match=r"\.z\.npy\.lock is not a lock file .*: remove or rename"):
        model.transform_to(data, tmp_path / "z.npy")
    assert victim.read_text() == "precious"
    assert names(tmp_path) == [".z.npy.lock", "victim"]


@posix_only
def test_an_output_that_is_a_link_is_replaced_and_a_device_is_rejected(model, data, tmp_path):
    (tmp_path / "victim.npy").write_text("precious")
    (tmp_path / "z.npy").symlink_to("victim.npy")
    with pytest.raises(FileExistsError, match=r"z\.npy exists: pass overwrite=True"):
        model.transform_to(data, tmp_path / "z.npy")
    model.transform_to(data, tmp_path / "z.npy", overwrite=True)
    assert (tmp_path / "victim.npy").read_text() == "precious"
    assert not (tmp_path / "z.npy").is_symlink()
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match=r"pipe\.csv: expected a regular file, not a device"):
        model.transform_to(data, tmp_path / "pipe.csv")


def test_names_that_cannot_be_written_are_errors_before_the_work(model, data, tmp_path):
    with pytest.raises(ValueError, match=r"cannot write '.*a\\x00b\.npy'"):
        model.transform_to(data, tmp_path / "a\0b.npy")
    (tmp_path / "a\nb.npy").write_text("old")
    assert model.transform_to(data, tmp_path / "a\nb.npy", overwrite=True) == (60, 4)
    long_name = "x" * 240 + ".csv"
    model._features_of_batch = None  # not reached
    try:
        with pytest.raises(OSError, match="name too long"):
            model.transform_to(data, tmp_path / long_name)
    finally:
        del model._features_of_batch
    assert names(tmp_path) == ["a\nb.npy"]


# Full disks and folders that disappear


@posix_only
@pytest.mark.parametrize("extension", ["npy", "npz", "csv"])
@pytest.mark.parametrize("failing", range(1, 9))
def test_a_full_disk_names_the_file_and_the_next_call_resumes(
    model, data, tmp_path, monkeypatch, extension, failing
):
    """The nth fsync fails, wherever it is: rows, targets, checkpoint or output."""
    output = tmp_path / f"z.{extension}"
    calls = itertools.count(1)
    real = os.fsync

    def fsync(descriptor):
        if next(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    try:
        model.transform_to(data, output, batch_size=30)
    except OSError as error:
        assert error.errno == errno.ENOSPC
        assert str(tmp_path / f"z.{extension}") in str(error)
        assert not output.exists()
        assert names(tmp_path) == ([f"{output.name}.part"] if failing > 3 else [])
    else:
        assert failing > 7
    monkeypatch.undo()
    assert model.transform_to(data, output, overwrite=True) == (60, 4)
    assert names(tmp_path) == [output.name]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root mounts file systems")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("extension", ["npy", "npz", "csv", "parquet"])
def test_a_small_disk_fills_and_is_freed(model, small_disk, extension):
    pytest.importorskip("pyarrow")
    data = gm.make_graph_families(900, random_state=0, min_nodes=10, max_nodes=14)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(36_000))
    output = small_disk / f"z.{extension}"
    for _ in range(2):  # the second call is not locked out by the first
        with pytest.raises(OSError, match=rf"No space left on device: '.*z\.{extension}"):
            model.transform_to(data.graphs[:890], output, batch_size=100)
        assert not output.exists()
        assert names(small_disk) == ["ballast", f"z.{extension}.part"]
    ballast.unlink()
    if extension == "npy":
        assert model.transform_to(data.graphs[:890], output) == (890, 4)
        assert (np.load(output) == model.transform(data.graphs[:890])).all()


def test_a_small_disk_and_a_model(model, small_disk):
    (small_disk / "ballast").write_bytes(bytes(61_000))
    with pytest.raises(OSError, match=r"No space left on device: '.*/model\.npz'"):
        model.save(small_disk / "model.npz")
    assert names(small_disk) == ["ballast"]


@pytest.mark.slow
@posix_only
def test_a_full_standard_output_is_named():
    program = "import graphmover as gm; d = gm.make_graph_families(60, random_state=0)\n"
    program += "gm.RandomGraphEmbedding(4, gamma=1.0).fit(d.graphs).transform_to(d, '-')"
    with open("/dev/full", "wb") as full:
        answer = subprocess.run(
            [sys.executable, "-c", program],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "No space left on device: 'standard output'" in answer.stderr


def test_standard_output_may_be_a_stream_of_text(model, data, expected):
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as text:
        assert model.transform_to(data, "-", batch_size=7) == (60, 4)
    assert text.getvalue().encode() == expected["csv"]


@posix_only
@pytest.mark.parametrize("extension", ["npy", "csv"])
def test_a_folder_that_disappears_is_an_error_that_names_it(model, data, tmp_path, extension):
    home = tmp_path / "home"
    for stage in (20, 60):
        home.mkdir()

        def graphs(stage=stage):
            yield from data.graphs[:stage]
            shutil.rmtree(home)
            yield from data.graphs[stage:]

        with pytest.raises(FileNotFoundError, match=rf"home/z\.{extension}"):
            model.transform_to(graphs(), home / f"z.{extension}", batch_size=20)
        assert names(tmp_path) == []


# Damage


def test_damaged_rows_are_found_by_their_checksum(model, data, expected, tmp_path):
    part = interrupt(model, data, tmp_path / "z.csv")
    for name in ("vectors.npy", "target.jsonl"):
        good = (part / name).read_bytes()
        damaged = bytearray(good)
        damaged[-3] ^= 1
        (part / name).write_bytes(damaged)
        with pytest.raises(
            ValueError,
            match=rf"z\.csv\.part is damaged \({name}: its checksum is wrong\): pass resume=False",
        ):
            model.transform_to(data, tmp_path / "z.csv")
        (part / name).write_bytes(good + b"not committed")
    assert model.transform_to(data, tmp_path / "z.csv") == (60, 4)
    assert (tmp_path / "z.csv").read_bytes() == expected["csv"]


@pytest.mark.parametrize("extension", ["npy", "csv"])
def test_a_folder_of_format_1_is_resumed(model, data, expected, tmp_path, extension):
    """It has no checksums, and a lock and perhaps a draft of a checkpoint inside."""
    part = interrupt(model, data, tmp_path / f"z.{extension}")
    checkpoint = json.loads((part / "journal.json").read_bytes())
    checkpoint["format"] = 1
    for name in ("vectors_checksum", "target_checksum", "id_bytes", "id_checksum"):
        checkpoint.pop(name)
    (part / "journal.json").write_text(json.dumps(checkpoint))
    (part / "lock").touch()
    (part / ".journal.json.12.139872.part").write_text("{")
    assert model.transform_to(data, tmp_path / f"z.{extension}") == (60, 4)
    assert (tmp_path / f"z.{extension}").read_bytes() == expected[extension]
    assert names(tmp_path) == [f"z.{extension}"]


@pytest.mark.parametrize(
    "line", ["NaN", "1" * 400, "{}", "[1, 2]", "[[[1]]]", '"a"', "x", "\udcff", "[" * 9_000]
)
def test_strange_targets_of_format_1_give_a_clear_error(model, data, tmp_path, line):
    part = interrupt(model, data, tmp_path / "z.npz")
    checkpoint = json.loads((part / "journal.json").read_bytes())
    for name in ("vectors_checksum", "target_checksum", "id_bytes", "id_checksum"):
        checkpoint.pop(name)
    lines = (part / "target.jsonl").read_bytes().splitlines(keepends=True)
    lines[7] = line.encode(errors="surrogateescape") + b"\n"
    (part / "target.jsonl").write_bytes(b"".join(lines))
    changes = {"format": 1, "target_bytes": len(b"".join(lines))}
    (part / "journal.json").write_text(json.dumps(checkpoint | changes))
    if line in ("NaN", '"a"'):  # a number and a string are targets
        assert model.transform_to(data, tmp_path / "z.npz") == (60, 4)
        return
    with pytest.raises(ValueError, match=r"z\.npz(\.part is damaged .* resume=False|: an \.npz)"):
        model.transform_to(data, tmp_path / "z.npz")
    assert not (tmp_path / "z.npz").exists()


def test_targets_that_files_cannot_hold_are_named(data):
    for target in (np.array([b"x"] * 60), np.zeros(60, "M8[s]"), np.zeros(60, complex)):
        with pytest.raises(
            TypeError, match=r"target is an array of .*, expected numbers or string"
        ):
            gm.Dataset("x", data.graphs, target)
    for value in (b"x", 1j, object()):
        target = np.array([value] * 60, dtype=object)
        with pytest.raises(TypeError, match=r"graph 0: the target is .*, expected a number in all"):
            gm.Dataset("x", data.graphs, target)
    with pytest.raises(ValueError, match=r"graph 0: the target is 10*, expected .* fits 64 bits"):
        gm.Dataset("x", data.graphs, np.array([10**400] * 60, dtype=object))


def test_a_target_that_some_graphs_lack_is_found_at_once(model, data, tmp_path):
    from graphmover.io.partial import PartialRows

    with (
        pytest.raises(ValueError, match=r"graph 3 has no target, but the graphs before have one"),
        PartialRows(tmp_path / "z.npy", 4, model="m", resume=True) as part,
    ):
        part.append(np.zeros((3, 4)), np.arange(3), "source")
        part.append(np.zeros((3, 4)), None, "source")


@pytest.mark.slow
def test_fuzzed_checkpoints(tmp_path):
    for index in range(150):
        assert attack(np.random.default_rng([0, index]), tmp_path) is None, f"attack {index}"


# Drafts


@posix_only
def test_drafts_of_killed_processes_are_removed(model, data, tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    stale = [f".z.csv.{dead.pid}.139872.part", f".z.csv.{os.getpid()}.139872.part"]
    kept = [f".z.csv.{os.getppid()}.1.part", f".other.csv.{dead.pid}.1.part", ".z.csv.x.part"]
    for name in stale + kept:
        (tmp_path / name).write_text("draft")
    (tmp_path / f".z.csv.{dead.pid}.2.part").symlink_to(kept[0])
    model.transform_to(data, tmp_path / "z.csv")
    assert names(tmp_path) == sorted([*kept, f".z.csv.{dead.pid}.2.part", "z.csv"])
    with replacing(tmp_path / "m") as one, replacing(tmp_path / "m") as other:  # of one process
        assert Path(one.name).exists() and Path(other.name).exists()
        one.write(b"1")
        other.write(b"2")
    assert (tmp_path / "m").read_bytes() == b"1"


KILLED = """
import sys, time
from graphmover._utils.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"draft")
    file.flush()
    print("x", flush=True)
    time.sleep(99)
"""


@posix_only
def test_a_draft_lives_as_long_as_its_process(tmp_path):
    path = tmp_path / "x.csv"
    command = [sys.executable, "-c", KILLED, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout.read(1) == b"x"
    with replacing(path) as file:
        file.write(b"1")
    assert len(names(tmp_path)) == 2
    process.kill()
    process.communicate()
    time.sleep(0.01)
    with replacing(path) as file:
        file.write(b"2")
    assert names(tmp_path) == ["x.csv"] and path.read_bytes() == b"2"


def test_strings_with_line_breaks_read_back_from_csv():
    import csv
    from io import StringIO

    target = np.array(["a\rb", "c\nd", 'e"f', "g,h", "i"])
    text = csv_lines(np.zeros((5, 1)), target).decode()
    assert [row[1] for row in csv.reader(StringIO(text, newline=""))] == target.tolist()
