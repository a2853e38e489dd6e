"""What Windows and macOS lack is not needed: simulated, since tests run on Linux."""

import os
import subprocess
import sys
import types

import pytest
from commands import run

import graphmover as gm
from graphmover._utils import files
from graphmover.cli.standard_input import named_in

#: Imports every module with what Windows has, and works with files there. Libraries are loaded
#: before, in the world as it is, and so is graphmover, which loads them; then it is loaded again.
AS_ON_WINDOWS = """
import errno, importlib, io, os, pkgutil, sys, tempfile, types, warnings
import zipfile
from pathlib import Path

MISSING = {"fork", "register_at_fork", "getuid", "geteuid", "sched_getaffinity", "sysconf",
           "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "mkfifo", "WNOHANG", "killpg", "setsid"}


class Os(types.ModuleType):
    name, supports_dir_fd = "nt", set()

    def __getattr__(self, name):
        if name in MISSING:
            raise AttributeError(name)
        return getattr(os, name)


# Files that are open, or mapped into memory, are neither renamed nor removed.
def closed_only(change):
    def changed(*paths, dir_fd=None, src_dir_fd=None, dst_dir_fd=None):
        places = {os.path.realpath(path) for path in paths}
        open_files = {os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")}
        mapped = {line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps")}
        if places & (open_files | mapped):
            raise PermissionError(errno.EACCES, "it is open", str(paths[-1]))
        return change(*paths)

    return changed


def load_all():
    import graphmover
    for module in pkgutil.walk_packages(graphmover.__path__, "graphmover."):
        if module.name.split(".")[-1] not in {"__main__", "cuda"} and ".cuda" not in module.name:
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                if error.name in NOT_THERE:
                    raise
    return graphmover


def locking(descriptor, mode, size):
    # Nobody can read what is locked: only files without content may be.
    assert os.readlink(f"/proc/self/fd/{descriptor}").endswith(".lock")
    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size)


NOT_THERE = {"fcntl", "resource", "termios", "pwd", "grp", "pty"}
load_all()
import fcntl, numba.core.caching, pandas, pooch, pyarrow.parquet, rdkit.Chem
for name in [name for name in sys.modules if name.split(".")[0] == "graphmover"]:
    del sys.modules[name]
sys.modules |= dict.fromkeys(NOT_THERE)
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
for name in ("replace", "rename", "unlink", "remove"):
    setattr(os, name, closed_only(getattr(os, name)))
sys.modules["os"], sys.platform = Os("os"), "win32"
warnings.filterwarnings("error", category=EncodingWarning, module="graphmover")
gm = load_all()

from graphmover._utils.locks import only_writer_of
from graphmover.evaluation.checkpoint import Checkpoint
from graphmover.io.partial_index import PartialIndex

os.chdir(tempfile.mkdtemp())
data = gm.make_graph_families(12, random_state=0)
gm.write_graphs(data, "graphs.jsonl")
gm.write_graphs(data, "graphs.jsonl", overwrite=True)
model = gm.RandomGraphEmbedding(4, random_state=0).fit(gm.read_graphs("graphs.jsonl"))
model.save("model.npz")


def failing():
    yield from data.graphs[:8]
    raise OSError("gone")


try:
    model.transform_to(failing(), "vectors.npy", batch_size=4)
except OSError:
    pass
assert Path("vectors.npy.part").is_dir()
loaded = gm.RandomGraphEmbedding.load("model.npz")
assert loaded.transform_to(data.graphs, "vectors.npy", batch_size=4) == (12, 4)
with only_writer_of(Path("other")):
    pass

# An index of batches, which are mapped while they are joined; and one in place of another.
near = gm.NearestGraphs(random_state=0).fit(data.graphs)
for graphs in (data.graphs, data.graphs[:6]):
    with PartialIndex("index", near._stored().model, resume=False) as part:
        for batch in gm.iter_batches(graphs, 4):
            part.add(batch, near._stored)
        assert part.finish(near._stored()) == len(graphs)
assert gm.NearestGraphs.load("index").kneighbors(data.graphs[:1], 1)[1] == [[0]]

# Parts of a run, computed again when they are damaged.
for _ in range(2):
    written = gm.distributed.transform_to(
        model, "graphs.jsonl", "parts", engine="serial", unit_rows=5
    )
    assert written.n_rows == 12 and written.n_computed > 0
    next(Path("parts").glob("part-*")).write_bytes(b"damaged")

# A download, which is read before it is put in its place.
content = io.BytesIO()
with zipfile.ZipFile(content, "w") as archive:
    archive.writestr("MUTAG_A.txt", "1, 2\\n2, 1\\n")
    nodes = [1, *range(1, 189)]
    archive.writestr("MUTAG_graph_indicator.txt", "".join(f"{graph}\\n" for graph in nodes))
    archive.writestr("MUTAG_graph_labels.txt", "1\\n" * 188)
pooch.HTTPDownloader = lambda **_: lambda url, file, _: file.write(content.getvalue())
assert len(gm.load_dataset("MUTAG", data_home="home")) == 188

# Results of folds, of which some are dropped.
results = Checkpoint("folds.jsonl", {})
results.add("one", 1)
results.add("two", 2)
results.drop("one".__eq__)
assert "two" in Checkpoint("folds.jsonl", {})

left = sorted(path.name for path in Path().iterdir())
expected = ["folds.jsonl", "graphs.jsonl", "home", "index", "model.npz", "parts", "vectors.npy"]
assert left == expected, left
assert sorted(path.name for path in Path("home").iterdir()) == ["MUTAG.zip", "MUTAG.zip.sha256"]
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files")
def test_files_are_written_as_windows_asks():
    for library in ("networkx", "pandas", "pyarrow", "rdkit"):
        pytest.importorskip(library)
    command = [sys.executable, "-X", "warn_default_encoding", "-c", AS_ON_WINDOWS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-3000:]


@pytest.mark.parametrize("system", ["nt", "posix"])
def test_windows_waits_until_others_have_closed_a_file(system, monkeypatch):
    calls = []

    def replace(source, target, **folders):
        calls.append((source, target))
        if len(calls) < 3:
            raise PermissionError("a virus scanner has it open")

    monkeypatch.setattr(files, "os", types.SimpleNamespace(name=system, replace=replace))
    if system == "posix":
        with pytest.raises(PermissionError):
            files.put_in_place("new", "old")
        return
    files.put_in_place("new", "old")
    assert calls == 3 * [("new", "old")]
    calls.clear()
    monkeypatch.setattr(files, "PATIENCE", 0.0)
    with pytest.raises(PermissionError):
        files.put_in_place("new", "old")


def test_the_folder_of_standard_input_may_have_spaces(monkeypatch):
    folder = os.path.join("Users", "Jane Doe", "Temp")
    monkeypatch.setattr("tempfile.tempdir", folder)
    path = os.path.join(folder, "graphmover-x1", "standard-input.jsonl")
    assert named_in(f"{path}, line 1: no").startswith("standard input, line 1: no (it was read")


@pytest.mark.slow
def test_what_standard_output_cannot_encode_is_escaped(tmp_path):
    graphs = [gm.Graph(2, [(0, 1)]), gm.Graph(3, [(0, 1), (1, 2)])]
    path = tmp_path / "x.jsonl"
    gm.write_graphs(gm.as_graph_batch(graphs, ids=["\u03b1", "\u00e4"]), path)
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}  # as on many a Windows
    answer = run("info", path, env=environment, text=False)
    assert answer.returncode == 0, answer.stderr
    assert b"\\u03b1" in answer.stdout and "\u00e4".encode("cp1252") in answer.stdout
