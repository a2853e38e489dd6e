"""Each module imports only what stands above it: the data's way has no way back."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "graphmover"

#: From the bottom up. A module may import those before it.
ORDER = [
    "_checks",
    "_files",
    "_parallel",
    "_random",
    "_graph_arrays",
    "graphs",
    "_converters",
    "interop",
    "labels",
    "node_embedding",
    "random_graphs",
    "transport._lanes",
    "transport._problem",
    "transport._few_sinks",
    "transport._many_sinks",
    "transport._cpu",
    "transport",
    "embedding",
    "theory",
    "datasets._dataset",
    "datasets.tu",
    "datasets.families",
    "datasets",
    "output",
    "demo",
    "cli",
]

#: Engines see NumPy and Numba, no classes of ours.
ENGINES = {"transport._cpu": {"__future__", "collections", "math", "numba", "numpy"}}

#: Only inside functions: optional, or slow to import where ``--help`` must be quick.
LAZY = {"networkx", "igraph", "rustworkx", "torch", "torch_geometric", "matplotlib", "pandas"}


def module_name(file):
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(file, *, top_level_only=False):
    tree = ast.parse(file.read_text())
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("graphmover.")
                yield f"graphmover.{inner}" if inner in ORDER else node.module


FILES = [file for file in sorted(SOURCE.rglob("*.py")) if file != SOURCE / "__init__.py"]


def test_every_module_has_its_place():
    assert sorted(map(module_name, FILES)) == sorted(ORDER)


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_a_module_imports_only_what_stands_before_it(file):
    before = ORDER[: ORDER.index(module_name(file))]
    for name in imports(file):
        if name.startswith("graphmover."):
            assert name.removeprefix("graphmover.") in before, f"{module_name(file)} -> {name}"


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_see_no_classes(engine):
    file = SOURCE.joinpath(*engine.split(".")).with_suffix(".py")
    assert {name.split(".")[0] for name in imports(file)} <= ENGINES[engine]


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_optional_libraries_are_imported_where_they_are_used(file):
    top_level = {name.split(".")[0] for name in imports(file, top_level_only=True)}
    assert not top_level & LAZY
    if module_name(file) == "cli":
        assert top_level <= {"__future__", "enum", "pathlib", "sys", "typer", "typing"}
