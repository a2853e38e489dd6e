"""What all experiments share: arguments, tables as CSV, figures that are readable in grey."""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import graphmover as gm

RESULTS = Path(__file__).parent / "results"

#: Lines that differ without colour.
STYLES = [
    {"color": "0.0", "marker": "o", "linestyle": "-"},
    {"color": "0.45", "marker": "s", "linestyle": "--"},
    {"color": "0.25", "marker": "^", "linestyle": "-."},
    {"color": "0.6", "marker": "D", "linestyle": ":"},
]
GUIDE = {"color": "0.7", "linewidth": 0.9, "marker": ""}


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every experiment takes."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small, on data made on the spot")
    parser.add_argument("--jobs", type=int, default=-1, help="threads; -1 uses all cores")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--results", type=Path, help="folder of CSV files and figures")
    return parser


def results_folder(options: argparse.Namespace) -> Path:
    """Return where results go: those of quick forms are no results, and go elsewhere."""
    folder = options.results or (RESULTS / "quick" if options.quick else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def update_csv(
    path: Path, rows: Sequence[Mapping[str, Any]], key: Sequence[str], *, about: Sequence[str] = ()
) -> None:
    """Write rows, in place of those with the same key; others stay.

    With ``about``, columns that are the same in all rows given: none of the old rows about the
    same stays.
    """
    old = {tuple(row[name] for name in key): dict(row) for row in read_csv(path)}
    if about:
        same = ["" if rows[0][name] is None else str(rows[0][name]) for name in about]
        old = {k: row for k, row in old.items() if [row[name] for name in about] != same}
    for row in rows:
        text = {name: "" if value is None else str(value) for name, value in row.items()}
        old[tuple(text[name] for name in key)] = text
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(old[name] for name in sorted(old, key=_numbers_by_size))


def _numbers_by_size(key: Sequence[str]) -> list[tuple[float, str]]:
    return [(float(part), "") if part.isdigit() else (math.inf, part) for part in key]


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file, none if it is not there."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def quick_data() -> gm.Dataset:
    """Return a few small graphs of known families, labelled by whether a degree is odd."""
    data = gm.make_graph_families(72, random_state=0)
    graphs = data.graphs
    labels = np.diff(graphs.indptr) % 2
    labelled = gm.GraphBatch(
        graphs.offsets, graphs.indptr, graphs.indices, node_labels=labels.astype(np.int64)
    )
    return gm.Dataset("families", labelled, data.target, data.target_names)


def new_figure(n_panels: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure of panels side by side, as wide as a page at most."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * n_panels, 3.0), layout="constrained")
    panels = list(figure.subplots(1, n_panels, squeeze=False)[0])
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(which="both", labelsize=8)
    return figure, panels


def save_figure(figure: Any, path: Path) -> None:
    """Write ``path`` with the endings .png and .svg, the same bytes for the same data."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "graphmover", "svg.fonttype": "none"}):
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=200)
