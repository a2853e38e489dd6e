"""What Windows and macOS lack is not needed: simulated, since tests run on Linux."""

import subprocess
import sys

import pytest

#: Imports every module with what Windows has, and works with files there. Libraries are loaded
#: before, in the world as it is, and so is graphmover, which loads them; then it is loaded again.
AS_ON_WINDOWS = """
import errno, importlib, os, pkgutil, sys, tempfile, types
from pathlib import Path

MISSING = {"fork", "register_at_fork", "getuid", "geteuid", "sched_getaffinity", "sysconf",
           "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "mkfifo", "WNOHANG", "killpg", "setsid"}


class Os(types.ModuleType):
    name, supports_dir_fd = "nt", set()

    def __getattr__(self, name):
        if name in MISSING:
            raise AttributeError(name)
        return getattr(os, name)

    @staticmethod
    def replace(source, target, **folders):
        held = [Path(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]
        paths = {os.path.realpath(source), os.path.realpath(target)}
        if any(n.exists() and os.path.realpath(n) in paths for n in held):
            raise PermissionError(errno.EACCES, "it is open", str(target))
        return os.replace(source, target)


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
    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size)


NOT_THERE = {"fcntl", "resource", "termios", "pwd", "grp", "pty"}
load_all()
import fcntl, numba.core.caching, pandas, pyarrow.parquet, rdkit.Chem
for name in [name for name in sys.modules if name.split(".")[0] == "graphmover"]:
    del sys.modules[name]
sys.modules |= dict.fromkeys(NOT_THERE)
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
sys.modules["os"], sys.platform = Os("os"), "win32"
gm = load_all()

from graphmover._utils.locks import only_writer_of

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
left = sorted(path.name for path in Path().iterdir())
assert left == ["graphs.jsonl", "model.npz", "vectors.npy"], left
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files")
def test_files_are_written_as_windows_asks():
    for library in ("networkx", "pandas", "pyarrow", "rdkit"):
        pytest.importorskip(library)
    command = [sys.executable, "-c", AS_ON_WINDOWS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-3000:]
