"""The shortcut against the full search: leave-one-out ridge for settings, or an SVM for each.

python experiments/selection.py --dataset MUTAG

Both choose on the same training parts from the same grid, and are scored on the same test parts.
"""

from __future__ import annotations

from _common import arguments, quick_data, results_folder, update_csv

import graphmover as gm
from graphmover.evaluation import Method, evaluate, paper_methods

GRID = {
    "max_random_nodes": (3, 15, 30),
    "n_dimensions": (4, 8),
    "gamma": (0.1, 0.3, 1.0, 3.0, 10.0),
}
QUICK_GRID = {"max_random_nodes": (6,), "n_dimensions": (4,), "gamma": (0.3, 3.0)}


def main() -> None:
    """Evaluate by both rules, and write selection.csv."""
    parser = arguments(__doc__)
    parser.add_argument("--dataset", default="MUTAG")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    folder = results_folder(options)
    data = quick_data() if options.quick else gm.load_dataset(options.dataset)
    name = "families" if options.quick else options.dataset
    grid = QUICK_GRID if options.quick else GRID
    for method in ("RGE(RF)", "RGE(ASG)"):
        for rule in ("ridge", "svm"):
            [row] = evaluate(
                data.graphs,
                data.target,
                [Method(method, paper_methods()[method].embedding, grid)],
                n_components=32 if options.quick else 2 ** len(data.graphs).bit_length(),
                n_folds=3 if options.quick else 10,
                n_repeats=1 if options.quick else options.repeats,
                selection=rule,
                n_jobs=options.jobs,
                device=options.device,
                checkpoint=folder / f"selection-{name}.checkpoint",
                progress=True,
            ).summary()
            del row["choices"]
            row["seconds"] = round(row["seconds"], 1)
            line = {"dataset": name, "rule": rule, **row, "version": gm.__version__}
            update_csv(folder / "selection.csv", [line], ["dataset", "method", "rule"])
            print(name, method, rule, f"{100 * row['mean']:.2f}", row["seconds"], flush=True)


if __name__ == "__main__":
    main()
