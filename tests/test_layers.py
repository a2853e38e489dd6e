"""Each module imports only what stands above it: the data's way has no way back."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "graphmover"


def module_name(file):
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


#: From the bottom up. A module may import those before it.
ORDER = [
    "_utils",
    "_utils.checks",
    "_utils.hashing",
    "_utils.segments",
    "_utils.locks",
    "_utils.files",
    "_utils.growing_file",
    "_utils.own_folder",
    "_utils.fork",
    "_utils.cancelling",
    "_utils.child_processes",
    "_utils.bars",
    "_utils.messages",
    "_utils.progress",
    "_utils.kernel_cache",
    "_utils.kernels",
    "_utils.jit",
    "_utils.compiling",
    "_utils.parallel",
    "_utils.random_state",
    "_utils.cuda",
    "nodes",
    "graphs.columns",
    "graphs.arrays",
    "graphs.arrow",
    "graphs.graph",
    "graphs.batch",
    "graphs.parts",
    "graphs.edge_list",
    "graphs.matrices",
    "graphs.molecules",
    "graphs.collections",
    "graphs.converters",
    "graphs.interop",
    "graphs.adjacency",
    "graphs.estimators",
    "graphs.dataset",
    "graphs",
    "io",
    "io.many_files",
    "io.limits",
    "io.text_columns",
    "io.reading",
    "io.skipped_file",
    "datasets.catalogue",
    "datasets.numbers",
    "datasets.tu_files",
    "datasets.home",
    "datasets.parsed",
    "datasets.tu",
    "datasets.families",
    "io.chunks",
    "io.thrift",
    "io.parquet_footer",
    "io.parquet_pages",
    "io.parquet_sizes",
    "io.parquet",
    "io.edge_csv",
    "io.networkx_files",
    "io.edge_list_files",
    "io.graph6",
    "io.smiles",
    "io.other_columns",
    "io.formats",
    "datasets",
    "nodes.labels",
    "io.checkpoint",
    "io.partial",
    "io.output",
    "io.hits",
    "io.streaming",
    "nodes.laplacian.twins",
    "nodes.laplacian.small",
    "nodes.laplacian.small.lapack",
    "nodes.laplacian.small.tridiagonal",
    "nodes.laplacian.eigenspaces",
    "nodes.laplacian.small.dense",
    "nodes.laplacian.large",
    "nodes.laplacian.large.kernels",
    "nodes.laplacian.large.minimum_degree",
    "nodes.laplacian.large.cholesky",
    "nodes.laplacian.large.forest",
    "nodes.laplacian.large.chebyshev",
    "nodes.laplacian.large.krylov",
    "nodes.laplacian.large.quotient",
    "nodes.laplacian.large.branches",
    "nodes.laplacian.large.operators",
    "nodes.laplacian.large.trees",
    "nodes.laplacian.large.lanczos",
    "nodes.laplacian.large.subspace",
    "nodes.laplacian.large.eigenpairs",
    "nodes.laplacian.large.components",
    "nodes.laplacian.cuda_schedule",
    "nodes.laplacian.cuda",
    "nodes.laplacian.solve",
    "nodes.laplacian",
    "nodes.walks",
    "nodes.structure",
    "nodes.carried",
    "nodes.carried_by_edges",
    "nodes.normal_scores",
    "nodes.registry",
    "nodes.smoothing",
    "nodes.blocks",
    "parameters",
    "nodes.attributes_as_labels",
    "nodes.masses",
    "nodes.embeddings",
    "nodes.recipe",
    "nodes.input_warnings",
    "nodes.embed",
    "random_graphs",
    "io.stored_arrays",
    "io.model_file",
    "io.index_file",
    "io.partial_index",
    "transport.ground",
    "transport.side",
    "transport.cpu",
    "transport.cpu.memory",
    "transport.cpu.lanes",
    "transport.cpu.ground",
    "transport.cpu.problem",
    "transport.cpu.solver",
    "transport.cpu.residual",
    "transport.cpu.few_sinks",
    "transport.cpu.many_sinks",
    "transport.cpu.spanning_tree",
    "transport.cpu.simplex",
    "transport.cpu.relaxed",
    "transport.cpu.engine",
    "transport.tree",
    "transport.tree.histograms",
    "transport.tree.cpu",
    "transport.tree.cuda",
    "transport.tree.search",
    "transport.cuda",
    "transport.cuda.side",
    "transport.cuda.schedule",
    "transport.cuda.engine",
    "backends.protocol",
    "backends.threads",
    "backends.cuda",
    "backends",
    "backends.rows",
    "backends.fitted",
    "backends.side_by_side",
    "transport",
    "features",
    "theory",
    "random_graphs.spread",
    "io.estimator_files",
    "estimator",
    "embedding",
    "distances",
    "views.sizes",
    "views",
    "vectorizer",
    "drawing",
    "drawing.molecules",
    "drawing.layout",
    "drawing.figures",
    "drawing.pairs",
    "drawing.anchors",
    "explanations",
    "explanations.costs",
    "explanations.models",
    "explanations.alignment",
    "explanations.weights",
    "search",
    "search.bounds",
    "search.on_device",
    "search.library",
    "search.cascade",
    "search.rounds",
    "search.selection",
    "search.labels",
    "search.queries",
    "search.embeddings",
    "search.vectors",
    "search.matrices",
    "search.files",
    "neighbors",
    "distributed.storage",
    "distributed.columns",
    "distributed.layout",
    "distributed.unit",
    "distributed.embedder",
    "distributed.parquet_units",
    "distributed.line_units",
    "distributed.source",
    "distributed.manifest",
    "distributed.part",
    "distributed.running",
    "distributed.warming",
    "distributed.lease",
    "distributed.output",
    "distributed.engines",
    "distributed.engines.protocol",
    "distributed.engines.sending",
    "distributed.engines.serial",
    "distributed.engines.processes",
    "distributed.engines.dask",
    "distributed.engines.ray",
    "distributed.engines.choice",
    "distributed.driver",
    "distributed.sampling",
    "distributed.arrow_map",
    "distributed",
    "compilation",
    "rivals",
    "rivals.optional",
    "rivals.base",
    "rivals.counts",
    "rivals.weisfeiler_lehman",
    "rivals.shortest_path",
    "rivals.graphlets",
    "rivals.betweenness",
    "rivals.common_walks",
    "rivals.random_walks",
    "rivals.eigenvectors",
    "rivals.pyramid_match",
    "rivals.local_profile",
    "rivals.feather",
    "rivals.heat_trace",
    "rivals.assignment",
    "rivals.wasserstein_wl",
    "rivals.graph2vec",
    "rivals.deep_graph_kernel",
    "rivals.fingerprints",
    "rivals.templates",
    "rivals.grakel_kernel",
    "rivals.neural",
    "rivals.neural.inputs",
    "rivals.neural.training",
    "rivals.neural.dcnn",
    "rivals.neural.dgcnn",
    "rivals.neural.gat",
    "rivals.neural.gin",
    "rivals.neural.pscn",
    "evaluation.arrays",
    "evaluation.columns",
    "evaluation.metrics",
    "evaluation.folds",
    "evaluation.checkpoint",
    "evaluation.protocol",
    "evaluation.fingerprints",
    "evaluation.threads",
    "evaluation.selection",
    "evaluation.svm",
    "evaluation.ridge",
    "evaluation.kernels",
    "evaluation.emd_kernel_matrix",
    "evaluation.candidates",
    "evaluation.halving",
    "evaluation.grid_search",
    "evaluation.parameter_grid",
    "evaluation.methods.fold_by_fold",
    "evaluation.methods.majority_class",
    "evaluation.methods.mean_value",
    "evaluation.methods.vertex_histogram",
    "evaluation.methods.emd_kernel",
    "evaluation.methods.precomputed",
    "evaluation.methods.random_graph_embedding",
    "evaluation.methods.estimator",
    "evaluation.methods.kernel_grid",
    "evaluation.methods.paper",
    "evaluation.methods.vectorizer",
    "evaluation.methods",
    "evaluation.table",
    "evaluation.target",
    "evaluation.paired",
    "evaluation",
    "rivals.limited",
    "rivals.catalogue",
    "rivals.cost",
    "rivals.compare",
    "datasets.summary",
    "page",
    "page.packed",
    "page.map",
    "page.drawings",
    "page.neighbours",
    "page.predictions",
    "page.charts",
    "page.html",
    "page.source",
    "page.content",
    "page.sections",
    "page.report",
    "demo",
    "cli.words",
    "cli.command",
    "cli.fitted",
    "cli.tables",
    "cli.standard_input",
    "cli.grids",
    "cli.options",
    "cli.demo",
    "cli.fit",
    "cli.many_workers",
    "cli.embed",
    "cli.evaluate",
    "cli.compare",
    "cli.index",
    "cli.search",
    "cli.convert",
    "cli.info",
    "cli.report",
    "cli.datasets",
    "cli.compile",
    "cli",
    "__main__",
]

#: Engines see NumPy and Numba, no classes of ours.
ENGINES = sorted((SOURCE / "transport").glob("*/*.py"))
ENGINES += sorted((SOURCE / "nodes" / "laplacian").rglob("*.py"))
ENGINE_IMPORTS = {"llvmlite", "math", "numba", "numpy", "scipy", "cupy", "threading", "time"}
ENGINE_IMPORTS |= {"__future__", "abc", "collections", "dataclasses", "enum", "functools", "typing"}
ENGINE_IMPORTS |= {"itertools", "operator", "pathlib", "sys"}
ENGINE_PACKAGES = ("graphmover.transport.", "graphmover.nodes.laplacian.", "graphmover._utils.")

#: Only inside functions: optional, or slow to import where ``--help`` must be quick.
LAZY = {"networkx", "igraph", "rustworkx", "torch", "torch_geometric", "matplotlib", "pandas"}
LAZY |= {"pyarrow", "rdkit", "cupy", "bokeh", "gensim", "grakel", "netlsd", "ot"}

#: What the command line imports before a command runs.
CLI_MODULES = ("graphmover.cli", "graphmover.parameters", "graphmover._utils.messages")
CLI_IMPORTS = {"__future__", "collections", "contextlib", "enum", "functools", "graphmover"}
CLI_IMPORTS |= {
    "inspect",
    "json",
    "logging",
    "os",
    "pathlib",
    "re",
    "sys",
    "typer",
    "typing",
    "warnings",
}


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


@pytest.mark.parametrize("engine", ENGINES, ids=module_name)
def test_engines_see_no_classes(engine):
    for name in imports(engine):
        assert f"{name}.".startswith(ENGINE_PACKAGES) or name.split(".")[0] in ENGINE_IMPORTS


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_optional_libraries_are_imported_where_they_are_used(file):
    top_level = {name.split(".")[0] for name in imports(file, top_level_only=True)}
    assert not top_level & LAZY
    if module_name(file).split(".")[0] == "cli":
        assert not top_level - CLI_IMPORTS
        for name in imports(file, top_level_only=True):
            assert not name.startswith("graphmover.") or name.startswith(CLI_MODULES)
