"""The paper's tables 1 to 3: accuracies of RGE and of the exact EMD kernel, nested and repeated.

python experiments/tables.py --datasets MUTAG PTC

With `--times 4` R is four times the paper's largest; tables hold both.

A killed run resumes where it stopped, and a run with more repetitions adds to the results: the
checkpoints in the results folder hold every fold, those of the published results too. To compute
all again, name another folder with `--results`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from _common import QUICK_GRID, Experiment, arguments, power_of_two_above, update_csv

from graphmover.evaluation import EMDKernel, Method, paper_methods

BASELINES = ["majority class", "bag of nodes"]
MOLECULES = ["MUTAG", "PTC", "ENZYMES", "PROTEINS", "NCI1", "NCI109"]
SOCIAL = ["IMDB-BINARY", "IMDB-MULTI", "COLLAB"]


def quick(method: Method | EMDKernel) -> Method | EMDKernel:
    """Return a method with next to no hyperparameter grid."""
    if isinstance(method, EMDKernel):
        return replace(method, n_dimensions=(4,))
    iterations = {"wl_iterations": (1,)} if method.stack_depths else {}
    return replace(method, grid={**QUICK_GRID, **iterations})


def repetitions(experiment: Experiment, name: str, method: str, R: int) -> int:
    """Return how many repetitions a cell has: fewer must not replace them."""
    for row in experiment.rows("accuracy"):
        same = (row["dataset"], row["method"]) == (name, method)
        if same and row["n_components"] in ("", str(R)):
            return int(row["repeats"])
    return 0


def write_choices(experiment: Experiment, name: str, row: dict[str, Any]) -> None:
    """Write how often each value was chosen to choices.csv."""
    cell = {"dataset": name, "method": row["method"], "n_components": row["n_components"]}
    rows = [
        {**cell, "parameter": parameter, "value": value, "folds": n}
        for parameter, counts in row["choices"].items()
        for value, n in counts.items()
    ]
    if rows:
        path = experiment.folder / "choices.csv"
        update_csv(path, rows, [*cell, "parameter", "value"], group=list(cell))


def main() -> None:
    """Evaluate methods on data sets, and write accuracy.csv and choices.csv."""
    parser = arguments(__doc__, MOLECULES + SOCIAL, repeats=10)
    parser.add_argument("--methods", nargs="+", default=[*BASELINES, *paper_methods()])
    parser.add_argument(
        "--times",
        type=int,
        default=1,
        help="R is this times the paper's largest, the first power of two above the number of "
        "graphs",
    )
    options = parser.parse_args()
    experiment = Experiment(options)
    known, repeats = paper_methods(), options.repeats
    if options.quick:
        known = {name: quick(method) for name, method in known.items()}
        repeats = 2
    for name, data in experiment.datasets():
        R = 32 if options.quick else options.times * power_of_two_above(data)
        for method in options.methods:
            if data.graphs.node_labels is None and ("labels" in method or "WL" in method):
                continue  # the paper has no such cell either
            if repetitions(experiment, name, method, R) > repeats:
                parser.error(
                    f"{experiment.folder / 'accuracy.csv'} has more repetitions of {method} on "
                    f"{name}: name another folder with --results"
                )
            [row] = experiment.evaluate(
                data, known.get(method, method), name, n_components=R, n_repeats=repeats
            ).summary()
            write_choices(experiment, name, row)
            del row["choices"]
            count = {"negative_eigenvalues": row.pop("negative_eigenvalues", None)}
            share = {"negative_share": row.pop("negative_share", None)}
            row["seconds"] = round(row["seconds"], 1)
            line = {"dataset": name, **row, **count, **share}
            experiment.update("accuracy", [line], ["dataset", "method", "n_components"])
            with_r = f"{method}, R = {row['n_components']}" if row["n_components"] else method
            deviation = "(1 repetition)" if row["std"] is None else f"+- {100 * row['std']:.2f}"
            print(f"{name:12} {with_r:28} {100 * row['mean']:.2f} {deviation}")


if __name__ == "__main__":
    main()
