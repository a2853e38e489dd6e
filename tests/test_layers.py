"""Each module imports only what stands above it: the data's way has no way back."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "graphmover"

#: From the bottom up. A module may import those before it.
ORDER = [
    "_checks",
    "_compiling",
    "_files",
    "_parallel",
    "_random",
    "_graph_arrays",
    "_arrow",
    "graphs",
    "_converters",
    "interop",
    "datasets._dataset",
    "datasets.catalogue",
    "datasets._numbers",
    "datasets._tu_files",
    "datasets._home",
    "datasets._parsed",
    "datasets.tu",
    "datasets.families",
    "datasets._chunks",
    "datasets.parquet",
    "datasets.edge_csv",
    "datasets.networkx_files",
    "datasets.smiles",
    "datasets.formats",
    "datasets",
    "labels",
    "_partial",
    "output",
    "streaming",
    "laplacian._twins",
    "laplacian._lapack",
    "laplacian._tridiagonal",
    "laplacian._groups",
    "laplacian._dense",
    "laplacian._kernels",
    "laplacian._ordering",
    "laplacian._triangular",
    "laplacian._krylov",
    "laplacian._operators",
    "laplacian._lanczos",
    "laplacian._iterative",
    "laplacian._sparse",
    "laplacian",
    "walks",
    "node_points",
    "node_embedding",
    "model_file",
    "random_graphs",
    "transport._lanes",
    "transport._problem",
    "transport._few_sinks",
    "transport._many_sinks",
    "transport._simplex",
    "transport._cpu",
    "transport._cuda_kernels",
    "transport._cuda_laplacian",
    "transport._cuda_side",
    "transport._cuda_plan",
    "transport._cuda",
    "transport",
    "_cuda_pipeline",
    "features",
    "embedding",
    "theory",
    "evaluation._arrays",
    "evaluation._columns",
    "evaluation._methods",
    "evaluation._selection",
    "evaluation._svm",
    "evaluation._folds",
    "evaluation._emd_kernel",
    "evaluation._journal",
    "evaluation._running",
    "evaluation._table",
    "evaluation._target",
    "evaluation",
    "summary",
    "demo",
    "cli._words",
    "cli._tables",
    "cli._options",
    "cli.demo",
    "cli.fit",
    "cli.embed",
    "cli.evaluate",
    "cli.convert",
    "cli.info",
    "cli.datasets",
    "cli",
    "__main__",
]

#: Engines see NumPy and Numba, no classes of ours.
ENGINES = ["_lanes", "_problem", "_few_sinks", "_many_sinks", "_simplex", "_cpu"]
ENGINES += ["_cuda_kernels", "_cuda_laplacian", "_cuda_side", "_cuda_plan", "_cuda"]
ENGINE_IMPORTS = {"collections", "graphmover.transport", "llvmlite", "math", "numba", "numpy"}
ENGINE_IMPORTS |= {"__future__", "cupy", "dataclasses", "functools", "itertools", "operator"}
ENGINE_IMPORTS |= {"graphmover._compiling", "pathlib", "sys", "threading", "typing"}

#: Only inside functions: optional, or slow to import where ``--help`` must be quick.
LAZY = {"networkx", "igraph", "rustworkx", "torch", "torch_geometric", "matplotlib", "pandas"}
LAZY |= {"pyarrow", "rdkit", "cupy"}

CLI_IMPORTS = {"__future__", "collections", "contextlib", "enum", "functools", "graphmover"}
CLI_IMPORTS |= {"inspect", "json", "os", "pathlib", "re", "sys", "typer", "typing", "warnings"}


def module_name(file):
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def statements(node, *, top_level_only):
    """All nodes of a tree, or those that run on import."""
    for child in ast.iter_child_nodes(node):
        for_checkers = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not (top_level_only and (isinstance(child, ast.FunctionDef) or for_checkers)):
            yield child
            yield from statements(child, top_level_only=top_level_only)


def imports(file, *, top_level_only=False):
    for node in statements(ast.parse(file.read_text()), top_level_only=top_level_only):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("graphmover.")
                is_ours = inner in ORDER or node.module == "graphmover"
                yield f"graphmover.{inner}" if is_ours else node.module


FILES = [file for file in sorted(SOURCE.rglob("*.py")) if file != SOURCE / "__init__.py"]


def test_every_module_has_its_place():
    assert sorted(map(module_name, FILES)) == sorted(ORDER)


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_a_module_imports_only_what_stands_before_it(file):
    before = ORDER[: ORDER.index(module_name(file))]
    for name in imports(file):
        if name.startswith("graphmover.") and name != "graphmover.__version__":
            assert name.removeprefix("graphmover.") in before, f"{module_name(file)} -> {name}"


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_see_no_classes(engine):
    for name in imports(SOURCE / "transport" / f"{engine}.py"):
        parts = name.split(".")
        assert ".".join(parts[:2] if parts[0] == "graphmover" else parts[:1]) in ENGINE_IMPORTS


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_optional_libraries_are_imported_where_they_are_used(file):
    top_level = {name.split(".")[0] for name in imports(file, top_level_only=True)}
    assert not top_level & LAZY
    if module_name(file).split(".")[0] == "cli":
        assert not top_level - CLI_IMPORTS
        for name in imports(file, top_level_only=True):
            assert not name.startswith("graphmover.") or name.startswith("graphmover.cli")
