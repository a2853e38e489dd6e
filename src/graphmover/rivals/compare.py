"""Which method suits a collection: those that fit what it carries, on the same folds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphmover import __version__
from graphmover._utils.messages import tell
from graphmover.drawing.figures import new_figure
from graphmover.evaluation import evaluate
from graphmover.evaluation.checkpoint import Checkpoint
from graphmover.evaluation.paired import paired_difference
from graphmover.evaluation.target import encoded_target
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.streaming import Content
from graphmover.rivals.catalogue import REFERENCE, Rival, known_rivals
from graphmover.rivals.cost import Cost, cost_of

#: What is compared unless methods are named: quickly, and otherwise.
QUICK = (REFERENCE, "majority class", "bag of nodes", "WL-ST", "WL-OA", "LTP", "FEATHER", "ECFP")
USUAL = (*QUICK, "SP", "SP+labels", "V-OA", "WWL", "WWL+attributes", "NetLSD", "graph2vec")

#: Beyond these, methods that compare all pairs of graphs or of nodes are left out.
_MOST_GRAPHS, _MOST_NODE_PAIRS = 3000, 10**8

#: The largest difference, a point of accuracy, at which one method is as good as another; beyond
#: that, a difference within its standard error says only that there were few folds.
_AS_GOOD = 0.01

#: One fold of a method may take this long, and this much memory.
SECONDS, MEGABYTES = 600.0, 16_000.0


@dataclass(frozen=True)
class Comparison:
    """The outcome of `compare`.

    Attributes
    ----------
    rows : list of dict
        A row per method, the best first: method, mean and deviation of the metric,
        fit_seconds and transform_seconds of one fold, peak_mb, how far behind the best it is with
        the standard error of the difference, and a note if it failed.
    left_out : dict
        Methods that do not fit the data, and why.
    metric : str
        "accuracy" or "r2".
    verdict : str
        Which is best, and whether a cheaper one is as good.
    """

    rows: list[dict[str, Any]]
    left_out: dict[str, str]
    metric: str
    verdict: str


def chosen_methods(
    graphs: GraphBatch, names: Sequence[str] | None, *, quick: bool, regression: bool
) -> tuple[list[Rival], dict[str, str]]:
    """Return the methods to compare, and why others are left out.

    Methods that were named are left out only if they cannot run; of the usual ones, also those that
    would take long.
    """
    wanted = known_rivals(names or USUAL)
    left_out = {}
    for rival in wanted:
        reason = rival.misfit(graphs, regression=regression)
        if reason is None and not names:
            is_slow = quick and rival.name not in QUICK
            reason = "is not quick" if is_slow else _too_large(rival, graphs)
        if reason is not None:
            left_out[rival.name] = reason
    return [rival for rival in wanted if rival.name not in left_out], left_out


def _too_large(rival: Rival, graphs: GraphBatch) -> str | None:
    if rival.cost == "quadratic" and len(graphs) > _MOST_GRAPHS:
        return f"compares all pairs of {len(graphs):,} graphs"
    pairs = int((graphs.node_counts.astype(np.float64) ** 2).sum())
    if rival.visits_node_pairs and pairs > _MOST_NODE_PAIRS:
        return f"visits {pairs:,} pairs of nodes"
    return None


def compare(
    graphs: GraphBatch,
    y: Any,
    methods: Sequence[str] | None = None,
    *,
    quick: bool = False,
    task: str = "auto",
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Comparison:
    """Cross-validate methods on the same folds, and measure what each costs.

    Parameters
    ----------
    graphs : GraphBatch
    y : array-like of shape (len(graphs),)
    methods : sequence of str, optional
        Names of `RIVALS`; by default those that fit the data.
    quick : bool
        Only methods whose time grows linearly with the number of graphs.
    task, n_folds, n_repeats, random_state, n_jobs, progress
        See `evaluate`.
    checkpoint : path, optional
        Keeps finished folds, and in a file beside it what was measured.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals.compare import chosen_methods
    >>> graphs = gm.make_graph_families(12, random_state=0).graphs
    >>> _, left_out = chosen_methods(graphs, None, quick=False, regression=False)
    >>> left_out["ECFP"]
    'needs SMILES'
    """
    target, classes, _ = encoded_target(y, len(graphs), n_folds, task, ids=graphs.ids)
    regression = not len(classes)
    rivals, left_out = chosen_methods(graphs, methods, quick=quick, regression=regression)
    if not rivals:
        reasons = "; ".join(f"{name} {reason}" for name, reason in left_out.items())
        raise ValueError(f"no method is left to compare: {reasons}")
    costs = _Costs(graphs, target, checkpoint)
    rows, folds = [], {}
    metric = "r2" if regression else "accuracy"
    for number, rival in enumerate(rivals, 1):
        method = rival.method(graphs, regression=regression)
        step = "" if costs.are_known(rival) else "measuring one fold, then "
        what = "%d of %d, %s: %scross-validating"
        tell(what, number, len(rivals), method.name, step, shown=progress)
        cost = costs.of(rival, regression=regression)
        row: dict[str, Any] = {"method": method.name, "mean": None, "std": None}
        row |= cost._asdict() | {"behind": None, "standard_error": None}
        row["note"] = row.pop("failure")
        if rival.measurable() is None:
            row["note"] = "cost not measured"
        rows.append(row)
        if cost.failure:
            tell("%s: %s", method.name, cost.failure, shown=progress)
            continue
        try:
            result = evaluate(
                graphs,
                y,
                [method],
                task=task,
                n_folds=n_folds,
                n_repeats=n_repeats,
                random_state=random_state,
                n_jobs=n_jobs,
                checkpoint=checkpoint,
                progress=progress,
            )
        except RuntimeError as error:  # others may run nevertheless
            row["note"] = str(error)
            tell("%s", error, shown=progress)
            continue
        [summary] = result.summary()
        deviation = summary["fold_std"] if summary["std"] is None else summary["std"]
        row |= {"mean": summary["mean"], "std": deviation}
        folds[method.name] = result.folds
    rows.sort(key=lambda row: -np.inf if row["mean"] is None else -row["mean"])
    rows.sort(key=lambda row: row["mean"] is None)
    scored = [row for row in rows if row["mean"] is not None]
    for row in scored[1:]:
        lost = paired_difference(folds[scored[0]["method"]], folds[row["method"]], metric=metric)
        if lost is not None:
            row |= {"behind": lost.mean, "standard_error": lost.standard_error}
    return Comparison(rows, left_out, metric, verdict(scored, metric))


def seconds_of(row: Mapping[str, Any]) -> float | None:
    """Return the processor seconds of a fold: fit and transform."""
    if row["fit_seconds"] is None:
        return None
    return float(row["fit_seconds"] + row["transform_seconds"])


def verdict(scored: Sequence[Mapping[str, Any]], metric: str) -> str:
    """Say which of the rows, the best first, is best, and which cheaper one is as good."""
    if not scored:
        return "No method finished."
    best = scored[0]
    score = f"{100 * best['mean']:.1f} %" if metric == "accuracy" else f"R2 {best['mean']:.3f}"
    text = f"{best['method']} is best ({score})"
    time = seconds_of(best)
    if time is None and len(scored) > 1:
        return f"{text}. Its cost was not measured, so no cheaper method can be named."
    cheaper = [
        row
        for row in scored[1:]
        if time is not None and row["behind"] is not None and row["standard_error"] is not None
        if (seconds_of(row) or np.inf) < time and row["behind"] <= row["standard_error"]
    ]
    if not cheaper:
        return f"{text}."
    equal = [row for row in cheaper if round(row["behind"], 9) <= _AS_GOOD]
    if equal:
        row, judged = min(equal, key=lambda row: seconds_of(row) or np.inf), "is as good"
    else:
        row, judged = min(cheaper, key=lambda row: row["behind"]), "may be as good"
    behind = f"{row['behind']:.3f} +- {row['standard_error']:.3f} behind"
    if metric == "accuracy":
        behind = f"{100 * row['behind']:.1f} +- {100 * row['standard_error']:.1f} points behind"
    share = (time or 0.0) / max(seconds_of(row) or 0.0, 1e-9)
    times = f"{share:,.0f}" if share >= 10 else f"{share:.1f}"
    more = "" if equal else ": more repetitions would tell"
    return f"{text}; {row['method']} {judged} ({behind}{more}) and {times} times as fast."


class _Costs:
    """What was measured, kept beside the checkpoint of folds."""

    def __init__(
        self, graphs: GraphBatch, target: Any, checkpoint: str | os.PathLike[str] | None
    ) -> None:
        self._graphs, self._target = graphs, target
        content = Content()
        content.add(Dataset("", graphs, target))
        path = None if checkpoint is None else Path(f"{os.fspath(checkpoint)}.costs")
        self._kept = Checkpoint(path, {"graphs": content.digest(), "version": __version__})

    def are_known(self, rival: Rival) -> bool:
        """Tell whether there is nothing to measure, or nothing left to."""
        return rival.measurable() is None or rival.name in self._kept

    def of(self, rival: Rival, *, regression: bool) -> Cost:
        """Return what was measured, or measure it."""
        if rival.measurable() is None:
            return Cost(None, None, None, None)
        if rival.name not in self._kept:
            measured = cost_of(
                rival.name,
                self._graphs,
                self._target,
                regression=regression,
                seconds=SECONDS,
                megabytes=MEGABYTES,
            )
            self._kept.add(rival.name, list(measured))
        return Cost(*self._kept[rival.name])


def draw(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Draw the score against the seconds of a fold, and write the figure.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Its extension selects the format: .png, .svg or .pdf.
    """
    percent = 100 if comparison.metric == "accuracy" else 1
    points = [
        (seconds, percent * row["mean"], row["method"])
        for row in comparison.rows
        if row["mean"] is not None and (seconds := seconds_of(row))
    ]
    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.margins(x=0.08, y=0.1)
    front = np.array(_front(points)).reshape(-1, 2)
    axes.step(front[:, 0], front[:, 1], where="post", color="0.8", linewidth=1, zorder=0)
    middle = np.median([seconds for seconds, *_ in points]) if points else 0.0
    for seconds, score, name in points:
        colour = "tab:red" if name == REFERENCE else "0.35"
        axes.plot(seconds, score, "o", color=colour)
        # Towards the middle, so that no name leaves the figure.
        left = seconds > middle
        axes.annotate(
            name,
            (seconds, score),
            xytext=(-4 if left else 4, 4),
            textcoords="offset points",
            fontsize=8,
            color=colour,
            ha="right" if left else "left",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_xlabel(
        "processor seconds of one fold, to fit and to apply; line: the best at that cost"
    )
    axes.set_ylabel("accuracy (%)" if percent == 100 else "R2")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _front(points: Sequence[tuple[float, float, str]]) -> list[tuple[float, float]]:
    """Return the points that no other beats in both seconds and score, the fastest first."""
    front: list[tuple[float, float]] = []
    for seconds, score, _ in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or score > front[-1][1]:
            front.append((seconds, score))
    return front
