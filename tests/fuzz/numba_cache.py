"""Damage to the files of compiled kernels: they are compiled again, and the result is right."""

import importlib.util
import os
import shutil

SOURCE = """
from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def triple(x):
    return 3 * x
"""


def cut(rng, path):
    content = path.read_bytes()
    path.write_bytes(content[: rng.integers(len(content))])


def flip_bits(rng, path):
    content = bytearray(path.read_bytes())
    for place in rng.integers(len(content), size=rng.integers(1, 9)):
        content[place] ^= 1 << rng.integers(8)
    path.write_bytes(content)


def overwrite(rng, path):
    path.write_bytes(rng.bytes(rng.integers(200)))


def lengthen(rng, path):
    path.write_bytes(path.read_bytes() + rng.bytes(rng.integers(1, 50)))


def make_unreadable(rng, path):
    path.chmod(0)


def make_folder(rng, path):
    path.unlink()
    path.mkdir()


def make_full_folder(rng, path):
    make_folder(rng, path)
    (path / "file").touch()


def make_dangling_link(rng, path):
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def make_pickle(rng, path):
    path.write_bytes(b"cos\nabort\n(tR.")  # it would end the process


def swap_with_other_signature(rng, path):
    others = [other for other in path.parent.glob("*.nb?") if other != path and other.is_file()]
    if others:
        shutil.copy(others[rng.integers(len(others))], path)


DAMAGES = (
    cut,
    flip_bits,
    overwrite,
    lengthen,
    make_unreadable,
    make_folder,
    make_full_folder,
    make_dangling_link,
    make_pickle,
    swap_with_other_signature,
)


def loaded_kernel(folder):
    """Import the kernel as a new process would."""
    file = folder / "tripling.py"
    if not file.exists():
        file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("tripling", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.triple


def cache_files(folder):
    return sorted(folder.rglob("*.nb?"))


def attack(rng, folder):
    """Damage some files of one kernel's cache in some way, then use the kernel."""
    kernel = loaded_kernel(folder)
    assert (kernel(7), kernel(1.5)) == (21, 4.5)
    files = cache_files(folder)
    assert files
    for file in files:
        if rng.random() < 0.7:
            DAMAGES[rng.integers(len(DAMAGES))](rng, file)
    again = loaded_kernel(folder)
    assert (again(7), again(1.5)) == (21, 4.5)
    if not any(file.is_dir() for file in files):
        healed = loaded_kernel(folder)
        assert (healed(7), healed(1.5)) == (21, 4.5)
        assert not healed.stats.cache_misses, "the damaged files were not replaced"
    shutil.rmtree(folder / "__pycache__")
    assert os.listdir(folder) == ["tripling.py"]
