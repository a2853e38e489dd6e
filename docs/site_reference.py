"""The pages of the API reference: every public name, in groups."""

import re
from pathlib import Path

from site_pages import BESIDE

import graphmover
import graphmover.distributed
import graphmover.evaluation
import graphmover.rivals

HEAD = """API reference
=============

Every public name, with its parameters and defaults. ``import graphmover as gm`` takes no time: a
name is loaded when it is first used.
"""

GROUPS = {
    "Estimators": [
        "GraphVectorizer",
        "RandomGraphEmbedding",
        "RandomGraphDistances",
        "DistanceFeatures",
        "GraphSizes",
    ],
    "Search, explanations, reports": [
        "NearestGraphs",
        "explain",
        "Alignment",
        "explain_weights",
        "AnchorWeights",
        "report",
    ],
    "Graphs": ["Graph", "GraphBatch", "Dataset", "as_graph_batch", "from_edge_list"],
    "Files and data sets": [
        "read_graphs",
        "iter_batches",
        "write_graphs",
        "load_dataset",
        "make_graph_families",
    ],
    "The steps of the method": [
        "embed_nodes",
        "NodeEmbeddings",
        "wl_labels",
        "sample_random_graphs",
        "earth_movers_distance",
        "transport_plan",
        "random_graphs_needed",
    ],
}

MODULES = {
    "Evaluation": graphmover.evaluation,
    "Clusters": graphmover.distributed,
    "Rivals": graphmover.rivals,
}


def write_reference(folder: Path) -> None:
    """Write index.rst, from which autosummary makes a page for each name."""
    listed = {name for names in GROUPS.values() for name in names}
    more = [name for name in graphmover.__all__ if name not in listed]
    text = HEAD
    for title, names in {**GROUPS, "More": more}.items():
        text += _group(title, "graphmover", names)
    for title, module in MODULES.items():
        text += _group(title, module.__name__, module.__all__)
    folder.mkdir(exist_ok=True)
    index = folder / "index.rst"
    if (
        not index.exists() or index.read_text(encoding="utf-8") != text
    ):  # Sphinx reads again what is newer
        index.write_text(text, encoding="utf-8")


def on_skip_member(app, what, name, member, skip, options):
    """Leave out what scikit-learn and NumPy have documented: `get_params`, `set_output` ..."""
    home = getattr(member, "__module__", None) or ""
    return True if home.split(".")[0] in {"sklearn", "numpy"} else None


def on_docstring(app, what, name, obj, options, lines):
    """Let names of fitted attributes, such as gamma_, stand without quotes, and link to pages."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"(\w[a-z0-9])_(?!\w)", r"\1\_", part) for part in parts[::2]]
            parts[::2] = [re.sub(r"docs/[\w-]+\.md", _page, part) for part in parts[::2]]
            lines[number] = "`".join(parts)


def _page(match):
    """Return a link to the page of the site that shows a file of the repository."""
    page = BESIDE.get(match[0], match[0].removeprefix("docs/"))
    return f":doc:`/{page.rsplit('.', 1)[0]}`"


def _group(title: str, module: str, names: list[str]) -> str:
    entries = "".join(f"   {name}\n" for name in names)
    heading = f"\n{title}\n{'-' * len(title)}\n\n.. currentmodule:: {module}\n\n"
    return heading + f".. autosummary::\n   :toctree: .\n\n{entries}"
