"""The effect of each option, on the same folds: the evidence of docs/which-option.md.

python experiments/options.py --datasets IMDB-BINARY IMDB-MULTI MUTAG PTC ENZYMES

In every fold D_max (6, 15, 24) and gamma are chosen on the training set. Read the differences:
with one repetition the standard error of a mean is one to three points.
"""

from __future__ import annotations

from _common import Experiment, arguments

import graphmover as gm
from graphmover.evaluation import Method

SETS = ["IMDB-BINARY", "IMDB-MULTI", "MUTAG", "PTC", "ENZYMES", "PROTEINS"]
GRID = {"max_random_nodes": (6, 15, 24), "gamma": (0.3, 1.0, 3.0)}
KEPT = ("n_components", "mean", "fold_std", "repeats", "folds")


def options(labels: bool) -> list[Method]:
    """Return the methods to compare: each changes one option."""
    embedding, grid = gm.RandomGraphEmbedding, GRID
    plain = {"n_dimensions": 4, "use_node_labels": False}
    found = [
        Method("laplacian, d = 4", embedding(**plain), grid),
        Method("laplacian, d = 6", embedding(**plain | {"n_dimensions": 6}), grid),
        Method("laplacian, equal masses", embedding(**plain, node_mass="equal"), grid),
        Method("uniform random graphs", embedding(n_dimensions=4, sampling="uniform"), grid),
        Method("degree", embedding(**plain, node_embedding="degree"), grid),
        Method(
            "degree, equal masses",
            embedding(**plain, node_embedding="degree", node_mass="equal"),
            grid,
        ),
        Method(
            "return probabilities", embedding(**plain, node_embedding="return-probability"), grid
        ),
    ]
    if labels:
        labelled = plain | {"use_node_labels": True}
        found.append(Method("labels", embedding(**labelled), grid))
        depths = {**grid, "wl_iterations": (2,)}
        found.append(Method("labels of depth 2", embedding(**labelled), depths))
        found.append(Method("labels of depths 0 to 2", embedding(**labelled), depths, True))
    return found


def main() -> None:
    """Evaluate all options, and write options.csv."""
    parser = arguments(__doc__, SETS, repeats=1)
    parser.add_argument("--components", type=int, default=512, help="R")
    chosen = parser.parse_args()
    experiment = Experiment(chosen)
    size = {"n_components": 16 if chosen.quick else chosen.components}
    for name, data in experiment.datasets():
        for method in options(labels=data.graphs.node_labels is not None):
            result = experiment.evaluate(
                data, method, f"options-{name}", n_repeats=chosen.repeats, **size
            )
            [row] = result.summary()
            line = {"dataset": name, "option": method.name, **{key: row[key] for key in KEPT}}
            line["seconds"] = round(row["seconds"], 1)
            experiment.update("options", [line], ["dataset", "option"])
            print(f"{name:12} {method.name:24} {100 * row['mean']:.2f}", flush=True)


if __name__ == "__main__":
    main()
