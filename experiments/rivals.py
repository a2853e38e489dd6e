"""Other methods on the folds of the tables: accuracy, seconds and memory.

python experiments/rivals.py --datasets MUTAG PTC_MR --methods WL-ST WL-OA

Each method first runs one fold in a process of its own, with a limit of one hour and of 16 GB:
what exceeds one of them has that as its result. Then it is cross-validated, nested and repeated;
networks once, with an inner holdout, as is customary. Rows go to rivals.csv. A killed run resumes
where it stopped, and one with more repetitions adds to the results: checkpoints hold every fold.
What rivals.csv has is not run again; remove a row to measure it anew. report.py pairs the folds
with those of GraphVectorizer, of vectorizer.py.
"""

from __future__ import annotations

from typing import Any

from _common import Experiment, arguments

import graphmover as gm
from graphmover.rivals.catalogue import REFERENCE, RIVALS, Rival
from graphmover.rivals.cost import cost_of
from graphmover.rivals.limited import run_limited

PAPER = ["MUTAG", "PTC", "ENZYMES", "PROTEINS", "NCI1", "NCI109"]
PAPER += ["IMDB-BINARY", "IMDB-MULTI", "COLLAB"]
MORE = ["PTC_MR", "DD", "BZR", "REDDIT-BINARY", "PROTEINS_full", "Letter-high"]

#: What a quick run compares.
QUICK = ["WL-ST", "SP"]

#: The limits of one fold, and of the memory of the whole cross-validation.
SECONDS, MEGABYTES = 3600.0, 16_000.0


def summary_of(
    experiment: Experiment, name: str, data: gm.Dataset, rival: Rival, repeats: int
) -> Any:
    """Return the summary of all folds, computing those that are missing."""
    # The folds of GraphVectorizer are those of vectorizer.py.
    kind = "vectorizer" if rival.name == REFERENCE else "rivals"
    method = rival.method(data.graphs)
    return experiment.evaluate(data, method, f"{kind}-{name}", n_repeats=repeats).summary()[0]


def cross_validated(options: Any, name: str, method: str, repeats: int) -> Any:
    """Run in a process of its own, so that memory has a limit."""
    experiment = Experiment(options)
    [data] = [data for found, data in experiment.datasets() if found == name]
    return summary_of(experiment, name, data, RIVALS[method], repeats)


def is_finished(experiment: Experiment, name: str, rival: Rival, repeats: int) -> bool:
    """Tell whether a row is there with as many repetitions, or with a limit that was exceeded."""
    wanted = 1 if rival.cost == "training" else repeats
    for row in experiment.rows("rivals"):
        if (row["dataset"], row["method"]) == (name, rival.name):
            exceeded = row["note"].startswith(("time-out", "out of memory"))
            return exceeded or int(row["repeats"] or 0) >= wanted
    return False


def row_of(options: Any, name: str, data: gm.Dataset, rival: Rival) -> Any:
    """Return the row of a method, or None if its cross-validation was stopped."""
    row: dict[str, Any] = {"dataset": name, "method": rival.name}
    empty = ("mean", "std", "repeats", "folds", "fit_seconds", "transform_seconds", "peak_mb")
    row |= dict.fromkeys(empty) | {"implementation": rival.implementation, "note": ""}
    seconds = min(SECONDS, options.seconds or SECONDS)
    cost = cost_of(rival.name, data.graphs, data.target, seconds=seconds, megabytes=MEGABYTES)
    row["peak_mb"] = None if cost.peak_mb is None else round(cost.peak_mb)
    if cost.failure == "time-out" and seconds < SECONDS:
        print(f"{name:14} {rival.name}: one fold takes more than {seconds:g} s", flush=True)
        return None
    if cost.failure:
        return row | {"note": cost.failure}
    for column in ("fit_seconds", "transform_seconds"):
        value = getattr(cost, column)
        row[column] = None if value is None else float(f"{value:.3g}")
    repeats = 1 if rival.cost == "training" else options.repeats
    outcome = run_limited(
        cross_validated, options, name, rival.name, repeats,
        seconds=options.seconds, megabytes=MEGABYTES,
    )  # fmt: skip
    if outcome.failure == "out of memory":
        return row | {"note": f"{outcome.failure} in cross-validation"}
    if outcome.failure:
        print(f"{name:14} {rival.name}: {outcome.failure}; finished folds are kept", flush=True)
        return None
    row |= {column: outcome.result[column] for column in ("mean", "std", "repeats", "folds")}
    if rival.cost == "training":
        row["note"] = "one repetition, inner holdout"
    return row


def main() -> None:
    """Evaluate methods on data sets, and write rivals.csv."""
    parser = arguments(__doc__, PAPER + MORE, repeats=10)
    parser.add_argument("--methods", nargs="+", choices=list(RIVALS), help="all by default")
    parser.add_argument(
        "--seconds",
        type=float,
        help="leave out a method whose first fold, or whose other folds, take more",
    )
    options = parser.parse_args()
    if options.quick:
        options.repeats = min(options.repeats, 2)
    options.methods = options.methods or (QUICK if options.quick else list(RIVALS))
    experiment = Experiment(options)
    for name, data in experiment.datasets():
        for method in options.methods:
            rival = RIVALS[method]
            misfit = rival.misfit(data.graphs)
            if misfit:
                print(f"{name:14} {method}: left out, {misfit}", flush=True)
                continue
            if is_finished(experiment, name, rival, options.repeats):
                print(f"{name:14} {method}: finished before", flush=True)
                continue
            row = row_of(options, name, data, rival)
            if row is None:
                continue
            experiment.update("rivals", [row], ["dataset", "method"])
            shown = row["note"] if row["mean"] is None else f"{100 * row['mean']:.2f}"
            print(f"{name:14} {method}: {shown}", flush=True)


if __name__ == "__main__":
    main()
