"""The frame of all experiments: arguments, data sets, evaluations, CSV files and figures."""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import graphmover as gm
from graphmover.evaluation import Evaluation, evaluate

RESULTS = Path(__file__).parent / "results"

#: A hyperparameter grid for quick runs.
QUICK_GRID = {"max_random_nodes": (6,), "n_dimensions": (4,), "gamma": (0.3, 3.0)}

#: Lines that differ without colour.
STYLES = [
    {"color": "0.0", "marker": "o", "linestyle": "-"},
    {"color": "0.45", "marker": "s", "linestyle": "--"},
    {"color": "0.25", "marker": "^", "linestyle": "-."},
    {"color": "0.6", "marker": "D", "linestyle": ":"},
]
GUIDE = {"color": "0.7", "linewidth": 0.9, "marker": ""}


def arguments(
    description: str | None, datasets: Sequence[str] = (), repeats: int | None = None
) -> argparse.ArgumentParser:
    """Return a parser with the arguments that experiments share.

    Parameters
    ----------
    description : str
        The script's docstring.
    datasets, repeats
        The defaults of ``--datasets`` and ``--repeats``, which are left out without them.
    """
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small, on generated data")
    parser.add_argument("--jobs", type=int, default=-1, help="threads; -1 uses all cores")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto")
    parser.add_argument("--results", type=Path, help="folder of CSV files and figures")
    if datasets:
        parser.add_argument("--datasets", nargs="+", default=datasets)
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats)
    return parser


class Experiment:
    """One run of a script: where its data come from, and where its results go.

    Parameters
    ----------
    options : argparse.Namespace
        What a parser of `arguments` returns.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.quick, self.jobs, self.device = options.quick, options.jobs, options.device
        self._names = getattr(options, "datasets", [])
        # Quick runs are no results, and go elsewhere.
        self.folder: Path = options.results or (RESULTS / "quick" if self.quick else RESULTS)
        self.folder.mkdir(parents=True, exist_ok=True)

    def datasets(self) -> Iterator[tuple[str, gm.Dataset]]:
        """Yield the name and the data of each data set."""
        if self.quick:
            yield "families", quick_data()
            return
        for name in self._names:
            yield name, gm.load_dataset(name)

    def evaluate(
        self, data: gm.Dataset, method: Any, checkpoint: str, **options: Any
    ) -> Evaluation:
        """Cross-validate one method, with 10 folds or, in a quick run, 3."""
        return evaluate(
            data.graphs,
            data.target,
            [method],
            n_folds=3 if self.quick else 10,
            n_jobs=self.jobs,
            device=self.device,
            checkpoint=self.folder / f"{checkpoint}.checkpoint",
            progress=True,
            **options,
        )

    def rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of a CSV file."""
        return read_csv(self.folder / f"{table}.csv")

    def update(self, table: str, rows: Sequence[Mapping[str, Any]], key: Sequence[str]) -> None:
        """Write rows, with the version, in place of those with the same key."""
        versioned = [{**row, "version": gm.__version__} for row in rows]
        update_csv(self.folder / f"{table}.csv", versioned, key)

    def save(self, figure: Any, name: str) -> None:
        """Write a figure as .png and .svg, the same bytes for the same data."""
        from matplotlib import rc_context

        with rc_context({"svg.hashsalt": "graphmover", "svg.fonttype": "none"}):
            figure.savefig(self.folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(self.folder / f"{name}.png", dpi=200)


def update_csv(
    path: Path, rows: Sequence[Mapping[str, Any]], key: Sequence[str], *, group: Sequence[str] = ()
) -> None:
    """Write rows, in place of those with the same key; others stay.

    With ``group``, columns that are the same in all rows given, no old row of the same group
    stays.
    """
    old = {tuple(row[name] for name in key): dict(row) for row in read_csv(path)}
    if group:
        same = ["" if rows[0][name] is None else str(rows[0][name]) for name in group]
        old = {k: row for k, row in old.items() if [row[name] for name in group] != same}
    for row in rows:
        text = {name: "" if value is None else str(value) for name, value in row.items()}
        old[tuple(text[name] for name in key)] = text
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(old[name] for name in sorted(old, key=_numbers_by_size))


def _numbers_by_size(key: Sequence[str]) -> list[tuple[float, str]]:
    return [(float(part), "") if part.isdigit() else (math.inf, part) for part in key]


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file, none if there is no such file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def quick_data() -> gm.Dataset:
    """Return a few small graphs of known families; labels say whether a degree is odd."""
    data = gm.make_graph_families(72, random_state=0)
    graphs = data.graphs
    labels = np.diff(graphs.indptr) % 2
    labelled = gm.GraphBatch(
        graphs.offsets, graphs.indptr, graphs.indices, node_labels=labels.astype(np.int64)
    )
    return gm.Dataset("families", labelled, data.target, data.target_names)


def power_of_two_above(data: gm.Dataset) -> int:
    """Return the first power of two above the number of graphs: the paper's largest R."""
    return int(2 ** len(data.graphs).bit_length())


def new_figure(n_panels: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure of panels side by side, at most as wide as a page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * n_panels, 3.0), layout="constrained")
    panels = list(figure.subplots(1, n_panels, squeeze=False)[0])
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(which="both", labelsize=8)
    return figure, panels


def finish(panel: Any, *, legend: bool = True, **properties: Any) -> None:
    """Set labels and scales, x logarithmic to the base of 2, and add a legend."""
    panel.set(**properties)
    panel.set_xscale("log", base=2)
    if legend:
        panel.legend(frameon=False, fontsize=7)
