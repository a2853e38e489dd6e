"""Compiled kernels on disk: damaged files, folders that cannot be written, no compiler."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import numba_cache
from numba.core import config

import graphmover as gm
from graphmover._utils import kernel_cache
from graphmover._utils.kernel_cache import NoKernelCache, private_folder
from graphmover.transport.cpu import few_sinks

PACKAGE = Path(gm.__file__).parent
TINY = {"A": "1, 2\n2, 3\n", "graph_indicator": "1\n1\n1\n", "graph_labels": "1\n"}
NO_WRITES = "-dac_override,-dac_read_search"


@pytest.fixture(autouse=True)
def reported(caplog):
    """Return what is reported; messages of other tests do not count."""
    kernel_cache._report_once.cache_clear()

    def messages():
        found = "".join(f"{record.getMessage()}\n" for record in caplog.records)
        caplog.clear()
        return found

    return messages


def test_all_kernels_have_this_cache():
    jit = PACKAGE / "_utils" / "jit.py"
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        is_safe = file == jit or not ("from numba import njit" in text or "numba.njit" in text)
        assert is_safe, f"{file}: import njit from graphmover._utils.jit"


@pytest.mark.parametrize("seed", range(20))
def test_random_damage(tmp_path, seed):
    numba_cache.attack(np.random.default_rng(seed), tmp_path)


@pytest.mark.parametrize("damage", numba_cache.DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_compiled_again(tmp_path, damage):
    first = numba_cache.loaded_kernel(tmp_path)
    assert (first(7), first(1.5)) == (21, 4.5)
    for file in numba_cache.cache_files(tmp_path):
        damage(np.random.default_rng(0), file)
    second = numba_cache.loaded_kernel(tmp_path)
    assert (second(7), second(1.5)) == (21, 4.5)
    if "unreadable" not in damage.__name__:  # root reads everything
        assert sum(second.stats.cache_misses.values()) >= 1


def test_an_intact_file_is_used(tmp_path, reported):
    numba_cache.loaded_kernel(tmp_path)(7)
    again = numba_cache.loaded_kernel(tmp_path)
    assert again(7) == 21
    assert sum(again.stats.cache_hits.values()) == 1
    assert reported() == ""


def test_a_folder_in_the_place_of_a_file_is_reported(tmp_path, reported):
    numba_cache.loaded_kernel(tmp_path)(7)
    (file,) = numba_cache.cache_files(tmp_path)
    numba_cache.make_folder(None, file)
    assert numba_cache.loaded_kernel(tmp_path)(7) == 21
    assert numba_cache.loaded_kernel(tmp_path)(7) == 21
    message = reported()
    assert message.count("compiled code is not stored in") == 1
    assert str(file) in message


def test_kernels_depend_on_the_modules_beside_theirs(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "part.py").write_text("x = 1\n")
    before = kernel_cache._stamp_of(tmp_path)
    (tmp_path / "deeper" / "part.py").write_text("x = 10\n")
    kernel_cache._stamp_of.cache_clear()
    assert kernel_cache._stamp_of(tmp_path) != before
    stamp = kernel_cache._stamp_beside(few_sinks.distances.py_func)
    assert stamp == kernel_cache._stamp_of(PACKAGE / "transport")
    assert {"cpu/problem.py", "cpu/few_sinks.py"} <= {Path(name).as_posix() for name, *_ in stamp}
    assert kernel_cache._stamp_beside(test_all_kernels_have_this_cache) is None


def test_changed_source_replaces_its_files(tmp_path):
    numba_cache.loaded_kernel(tmp_path)(7)
    (before,) = numba_cache.cache_files(tmp_path)
    (tmp_path / "tripling.py").write_text(numba_cache.SOURCE.replace("3 *", "4 *"))
    shutil.rmtree(tmp_path / "__pycache__" / "tripling", ignore_errors=True)
    for compiled in (tmp_path / "__pycache__").glob("*.pyc"):
        compiled.unlink()
    assert numba_cache.loaded_kernel(tmp_path)(7) == 28
    (after,) = numba_cache.cache_files(tmp_path)
    assert before != after


@pytest.fixture
def no_folder(monkeypatch):
    """Without any of Numba's folders, as in a read-only installation without a home."""
    locators = kernel_cache._KernelCacheImpl._locator_classes
    monkeypatch.setattr(kernel_cache._KernelCacheImpl, "_locator_classes", locators[-1:])


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder))
    return folder


def test_a_private_temporary_folder_is_the_last_resort(tmp_path, no_folder, temporary, reported):
    kernel = numba_cache.loaded_kernel(tmp_path)
    assert reported() == ""  # nothing is compiled yet
    assert (kernel(7), kernel(1.5)) == (21, 4.5)
    (folder,) = temporary.iterdir()
    assert len(numba_cache.cache_files(folder)) == 2
    message = reported()
    assert message.count("\n") == 1
    assert f"compiled code is stored in {folder}" in message and "NUMBA_CACHE_DIR" in message
    again = numba_cache.loaded_kernel(tmp_path)
    assert again(7) == 21 and not again.stats.cache_misses


@pytest.mark.skipif(os.name != "posix", reason="needs the permissions of POSIX")
@pytest.mark.parametrize("flaw", ["writable", "link", "file", "loose parent", "no parent"])
def test_a_temporary_folder_of_others_is_not_used(tmp_path, no_folder, temporary, reported, flaw):
    folder = private_folder()
    folder.rmdir()
    if flaw == "writable":
        folder.mkdir()
        folder.chmod(0o777)
    elif flaw == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif flaw == "file":
        folder.touch()
    elif flaw == "loose parent":
        temporary.chmod(0o777)
    else:
        temporary.rmdir()
    with pytest.raises(OSError):
        private_folder()
    kernel = numba_cache.loaded_kernel(tmp_path)
    assert isinstance(kernel._cache, NoKernelCache)
    assert (kernel(7), kernel(1.5)) == (21, 4.5)
    assert not numba_cache.cache_files(tmp_path)
    assert reported().count("compiled code is not stored, because no cache folder is wri") == 1


def test_a_folder_that_the_user_named_is_not_replaced(tmp_path, no_folder, temporary, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "named"))
    kernel = numba_cache.loaded_kernel(tmp_path)
    assert isinstance(kernel._cache, NoKernelCache)
    assert kernel(7) == 21
    assert not list(temporary.iterdir())


def run(arguments, folder, *, read_only=False, **environment):
    """Run Python on the package in ``folder``; as root, without the right to write everywhere."""
    command = [sys.executable, *arguments]
    if read_only and os.getuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv, or a user other than root")
        command = ["setpriv", f"--inh-caps={NO_WRITES}", f"--bounding-set={NO_WRITES}", *command]
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    return subprocess.run(
        command,
        env=kept | {"PYTHONPATH": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def write_tiny(folder):
    folder.mkdir()
    for part, text in TINY.items():
        (folder / f"TINY_{part}.txt").write_text(text)
    return str(folder)


@pytest.fixture
def read_only_package(tmp_path):
    """A copy of the package in a folder that cannot be written."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, site / "graphmover", ignore=ignored)
    folders = [site, *(path for path in site.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield site
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize("named", [False, True])
def test_a_read_only_installation_without_a_home(tmp_path, read_only_package, named):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    source = write_tiny(tmp_path / "TINY")
    environment = {"HOME": str(read_only_package / "nobody"), "TMPDIR": str(temporary)}
    if named:
        environment["NUMBA_CACHE_DIR"] = str(read_only_package / "named")
    arguments = ["-m", "graphmover", "info", source]
    outcome = run(arguments, read_only_package, read_only=True, **environment)
    assert outcome.returncode == 0, outcome.stderr
    assert "graphs            1" in outcome.stdout
    kind = "not stored, because no" if named else f"stored in {temporary}"
    assert f"graphmover: warning: compiled code is {kind}" in outcome.stderr
    assert outcome.stderr.count("compiled code is") == 1
    if not named:
        again = run(arguments, read_only_package, read_only=True, **environment)
        assert (again.returncode, again.stdout, again.stderr) == (0, outcome.stdout, "")


@pytest.mark.slow
def test_a_damaged_cache_does_not_show_in_the_public_api(tmp_path):
    source = write_tiny(tmp_path / "TINY")
    program = f"import graphmover as gm; print(gm.load_dataset({source!r}))"

    def load():
        return run(["-c", program], PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    first = load()
    assert first.stdout == "Dataset('TINY', 1 graph, 1 class)\n", first.stderr
    files = numba_cache.cache_files(tmp_path / "cache")
    assert files
    rng = np.random.default_rng(0)
    for number, file in enumerate(files):
        numba_cache.DAMAGES[number % len(numba_cache.DAMAGES)](rng, file)
    second = load()
    assert (second.returncode, second.stdout) == (0, first.stdout), second.stderr


WITHOUT_COMPILER = """
import graphmover as gm

graphs = gm.load_dataset({source!r}).graphs
print(len(graphs), gm.wl_labels(graphs, 2).shape)
model = gm.RandomGraphEmbedding(4, random_state=0)
nodes = gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], [0, 2])
for attempt in (
    lambda: model.fit(graphs),
    lambda: model.fit_transform(graphs),
    lambda: gm.embed_nodes(graphs),
    lambda: gm.earth_movers_distance(nodes, nodes),
    lambda: gm.transport_plan(nodes, nodes),
):
    try:
        attempt()
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.slow
def test_without_the_compiler_an_error_names_the_variable(tmp_path):
    source = write_tiny(tmp_path / "TINY")
    program = WITHOUT_COMPILER.format(source=source)
    outcome = run(["-c", program], PACKAGE.parent, NUMBA_DISABLE_JIT="1")
    assert outcome.returncode == 0, outcome.stderr
    first, *errors = outcome.stdout.splitlines()
    assert first == "1 (3,)"
    assert len(errors) == 5
    assert all("NUMBA_DISABLE_JIT: unset it and start Python again" in line for line in errors)
    info = run(["-m", "graphmover", "info", source], PACKAGE.parent, NUMBA_DISABLE_JIT="1")
    assert info.returncode == 0 and "graphs            1" in info.stdout
