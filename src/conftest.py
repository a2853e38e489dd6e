"""Examples in docstrings that need a library which is not installed are not run."""

from importlib.util import find_spec

_NEEDS = {
    "torch_geometric": "graphmover/rivals/neural/*.py",
    "grakel": "graphmover/rivals/grakel_kernel.py",
}

collect_ignore_glob = [files for library, files in _NEEDS.items() if find_spec(library) is None]
