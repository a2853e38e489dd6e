"""Two rules of model selection: leave-one-out ridge, or an SVM for every candidate and C.

python experiments/selection.py --datasets MUTAG

Both choose on the same training sets from the same hyperparameter grid, and are scored on the same
test folds.
"""

from __future__ import annotations

from _common import QUICK_GRID, Experiment, arguments, power_of_two_above

from graphmover.evaluation import Method, paper_methods

GRID = {
    "max_random_nodes": (3, 15, 30),
    "n_dimensions": (4, 8),
    "gamma": (0.1, 0.3, 1.0, 3.0, 10.0),
}


def main() -> None:
    """Evaluate by both rules, and write selection.csv."""
    options = arguments(__doc__, ["MUTAG"], repeats=3).parse_args()
    experiment = Experiment(options)
    grid = QUICK_GRID if options.quick else GRID
    for name, data in experiment.datasets():
        size = {"n_components": 32 if options.quick else power_of_two_above(data)}
        for variant in ("RGE(RF)", "RGE(ASG)"):
            method = Method(variant, paper_methods()[variant].embedding, grid)
            for rule in ("ridge", "svm"):
                [row] = experiment.evaluate(
                    data,
                    method,
                    f"selection-{name}",
                    n_repeats=1 if options.quick else options.repeats,
                    selection=rule,
                    **size,
                ).summary()
                del row["choices"]
                row["seconds"] = round(row["seconds"], 1)
                line = {"dataset": name, "rule": rule, **row}
                experiment.update("selection", [line], ["dataset", "method", "rule"])
                print(name, variant, rule, f"{100 * row['mean']:.2f}", row["seconds"], flush=True)


if __name__ == "__main__":
    main()
