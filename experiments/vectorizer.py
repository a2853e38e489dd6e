"""Accuracies of GraphVectorizer with logistic regression, both with their defaults.

python experiments/vectorizer.py --datasets MUTAG ENZYMES

Nothing is chosen, so cross-validation needs no inner folds; `--components` sets R. Further methods
choose on inner folds: "GraphVectorizer, SVM" the C of a linear SVM, the paper's classifier, which
takes the place of logistic regression; "WL-RGE(ASG), all depths" compares whole training graphs by
their labels.
Rows go to accuracy.csv; a killed run resumes where it stopped.
"""

from __future__ import annotations

from typing import Any

from _common import Experiment, arguments
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.evaluation import Method
from graphmover.evaluation.methods.estimator import SklearnEstimator

DATASETS = [
    *("MUTAG", "PTC", "PTC_MR", "ENZYMES", "PROTEINS", "PROTEINS_full", "NCI1", "NCI109", "BZR"),
    *("Letter-high", "DD", "IMDB-BINARY", "IMDB-MULTI", "COLLAB", "REDDIT-BINARY"),
]

ALL_DEPTHS = "WL-RGE(ASG), all depths"
SVM = "GraphVectorizer, SVM"


def vectorizer(R: int, device: str) -> SklearnEstimator:
    """Return GraphVectorizer with logistic regression."""
    head = LogisticRegression(max_iter=1000)
    return SklearnEstimator(
        "GraphVectorizer", make_pipeline(gm.GraphVectorizer(R, device=device), head)
    )


def vectorizer_and_svm(R: int, device: str) -> SklearnEstimator:
    """Return GraphVectorizer with a linear SVM whose C is chosen."""
    return SklearnEstimator(SVM, gm.GraphVectorizer(R, device=device))


def all_depths() -> Method:
    """Return whole training graphs compared by labels at all depths, a number chosen."""
    embedding = gm.RandomGraphEmbedding(
        node_embedding=None,
        node_mass="equal",
        max_random_nodes=None,
        wl_depths="all",
    )
    grid = {
        "max_random_nodes": (None,),
        "n_dimensions": (1,),
        "wl_iterations": (1, 2, 3, 4, 5),
        "gamma": (0.3, 1.0, 3.0, 10.0),
    }
    return Method(ALL_DEPTHS, embedding, grid=grid)


def main() -> None:
    """Evaluate on data sets, and write accuracy.csv."""
    parser = arguments(__doc__, DATASETS, repeats=10)
    parser.add_argument("--methods", nargs="+", default=["GraphVectorizer"])
    parser.add_argument("--components", type=int, default=1024)
    options = parser.parse_args()
    experiment = Experiment(options)
    repeats = 2 if options.quick else options.repeats
    R = 32 if options.quick else options.components
    for name, data in experiment.datasets():
        for method in options.methods:
            known: dict[str, Any] = {
                "GraphVectorizer": lambda: vectorizer(R, options.device),
                SVM: lambda: vectorizer_and_svm(R, options.device),
                ALL_DEPTHS: all_depths,
            }
            n_components = len(data.graphs) if method == ALL_DEPTHS else R
            [row] = experiment.evaluate(
                data,
                known[method](),
                f"vectorizer-{name}",
                n_components=n_components,
                n_repeats=repeats,
            ).summary()
            row.pop("choices", None)
            row |= {"n_components": n_components, "seconds": round(row["seconds"], 1)}
            empty = {"negative_eigenvalues": None, "negative_share": None}
            line = {"dataset": name, **row, **empty}
            experiment.update("accuracy", [line], ["dataset", "method", "n_components"])
            print(f"{name:14} {method}, R = {n_components}: {100 * row['mean']:.2f}", flush=True)


if __name__ == "__main__":
    main()
