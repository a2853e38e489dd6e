"""What options are worth, on the same folds: the evidence of docs/which-option.md.

python experiments/options.py --datasets IMDB-BINARY IMDB-MULTI MUTAG PTC ENZYMES

In every fold D_max (6, 15, 24) and gamma are chosen on the training part. Read the differences:
with one repetition a mean is uncertain by one to three points.
"""

from __future__ import annotations

from _common import arguments, quick_data, results_folder, update_csv

import graphmover as gm
from graphmover.evaluation import Method, evaluate

SETS = ["IMDB-BINARY", "IMDB-MULTI", "MUTAG", "PTC", "ENZYMES", "PROTEINS"]
GRID = {"max_random_nodes": (6, 15, 24), "gamma": (0.3, 1.0, 3.0)}


def options(labels: bool) -> list[Method]:
    """Return what is compared, each a change of one thing."""
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
    parser = arguments(__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--components", type=int, default=512, help="R")
    parser.add_argument("--repeats", type=int, default=1)
    chosen = parser.parse_args()
    folder = results_folder(chosen)
    R = 16 if chosen.quick else chosen.components
    for name in ["families"] if chosen.quick else chosen.datasets:
        data = quick_data() if chosen.quick else gm.load_dataset(name)
        for method in options(labels=data.graphs.node_labels is not None):
            result = evaluate(
                data.graphs,
                data.target,
                [method],
                n_components=R,
                n_folds=3 if chosen.quick else 10,
                n_repeats=chosen.repeats,
                n_jobs=chosen.jobs,
                device=chosen.device,
                checkpoint=folder / f"options-{name}.checkpoint",
                progress=True,
            )
            [row] = result.summary()
            kept = ("n_components", "mean", "fold_std", "repeats", "folds", "seconds")
            line = {"dataset": name, "option": method.name, **{key: row[key] for key in kept}}
            line |= {"seconds": round(line["seconds"], 1), "version": gm.__version__}
            update_csv(folder / "options.csv", [line], ["dataset", "option"])
            print(f"{name:12} {method.name:24} {100 * row['mean']:.2f}", flush=True)


if __name__ == "__main__":
    main()
