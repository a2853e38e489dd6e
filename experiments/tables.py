"""The paper's tables 1 to 3: accuracies of RGE and of the exact EMD kernel, nested and repeated.

python experiments/tables.py --datasets MUTAG PTC

With `--times 4` R is four times the paper's largest; tables hold both.

A killed run goes on where it was; a run with more repetitions adds to what is there: the journals
in the folder of results hold every fold. Those of the published results are there: to compute
anew, name another folder by `--results`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from _common import arguments, quick_data, read_csv, results_folder, update_csv

import graphmover as gm
from graphmover.evaluation import EMDKernel, Method, evaluate, paper_methods

BASELINES = ["majority class", "bag of nodes"]
MOLECULES = ["MUTAG", "PTC", "ENZYMES", "PROTEINS", "NCI1", "NCI109"]
SOCIAL = ["IMDB-BINARY", "IMDB-MULTI", "COLLAB"]

#: A few values in place of the paper's many.
QUICK_GRID = {"max_random_nodes": (6,), "n_dimensions": (4,), "gamma": (0.3, 3.0)}


def quick(method: Method | EMDKernel) -> Method | EMDKernel:
    """Return a method with next to no grid."""
    if isinstance(method, EMDKernel):
        return replace(method, n_dimensions=(4,))
    iterations = {"wl_iterations": (1,)} if method.stack_depths else {}
    return replace(method, grid={**QUICK_GRID, **iterations})


def repetitions(folder: Path, name: str, method: str, R: int) -> int:
    """Return how many of a cell there are; fewer are not to take their place."""
    for row in read_csv(folder / "accuracy.csv"):
        same = (row["dataset"], row["method"]) == (name, method)
        if same and row["n_components"] in ("", str(R)):
            return int(row["repeats"])
    return 0


def main() -> None:
    """Evaluate methods on data sets, and write accuracy.csv and choices.csv."""
    parser = arguments(__doc__)
    parser.add_argument("--datasets", nargs="+", default=MOLECULES + SOCIAL)
    parser.add_argument("--methods", nargs="+", default=[*BASELINES, *paper_methods()])
    parser.add_argument(
        "--times",
        type=int,
        default=1,
        help="R is this times the paper's largest, the first power of two above the number of "
        "graphs",
    )
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    folder = results_folder(options)
    known = paper_methods()
    repeats, folds, sets = options.repeats, 10, options.datasets
    if options.quick:
        known = {name: quick(method) for name, method in known.items()}
        repeats, folds, sets = 2, 3, ["families"]
    for name in sets:
        data = quick_data() if options.quick else gm.load_dataset(name)
        R = 32 if options.quick else options.times * 2 ** len(data.graphs).bit_length()
        for method in options.methods:
            if data.graphs.node_labels is None and ("labels" in method or "WL" in method):
                continue  # the paper has no such cell either
            if repetitions(folder, name, method, R) > repeats:
                parser.error(
                    f"{folder / 'accuracy.csv'} has more repetitions of {method} on {name}: name "
                    f"another folder by --results"
                )
            result = evaluate(
                data.graphs,
                data.target,
                [known.get(method, method)],
                n_components=R,
                n_folds=folds,
                n_repeats=repeats,
                n_jobs=options.jobs,
                device=options.device,
                checkpoint=folder / f"{name}.checkpoint",
                progress=True,
            )
            [row] = result.summary()
            chosen = [
                {
                    "dataset": name,
                    "method": method,
                    "n_components": row["n_components"],
                    "parameter": parameter,
                    "value": value,
                    "folds": n,
                }
                for parameter, counts in row.pop("choices").items()
                for value, n in counts.items()
            ]
            if chosen:
                update_csv(
                    folder / "choices.csv",
                    chosen,
                    ["dataset", "method", "n_components", "parameter", "value"],
                    about=["dataset", "method", "n_components"],
                )
            shares = {"negative_share": row.pop("negative_share", None)}
            count = {"negative_eigenvalues": row.pop("negative_eigenvalues", None)}
            line = {"dataset": name, **row, **count, **shares, "version": gm.__version__}
            line["seconds"] = round(line["seconds"], 1)
            update_csv(folder / "accuracy.csv", [line], ["dataset", "method", "n_components"])
            with_r = f"{method}, R = {row['n_components']}" if row["n_components"] else method
            deviation = "(1 repetition)" if row["std"] is None else f"+- {100 * row['std']:.2f}"
            print(f"{name:12} {with_r:28} {100 * row['mean']:.2f} {deviation}")


if __name__ == "__main__":
    main()
