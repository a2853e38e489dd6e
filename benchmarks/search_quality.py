"""What neighbours are good for: a vote of the 5 nearest graphs, and recall without exactness.

    python benchmarks/search_quality.py vote
    python benchmarks/search_quality.py recall

"vote" prints the accuracy in per cent of `KNeighborsClassifier(5, metric="precomputed")` behind
NearestGraphs with each embedding, in 10 folds of at most 500 graphs of a set; "recall" the share of
the exact neighbours that vectors find (`exact=False`). Needs the TU sets, in GRAPHMOVER_DATA or
downloaded.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from search import embedding_named
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.search.embeddings import default_embedding

VOTE = ("MUTAG", "PTC_MR", "NCI1", "PROTEINS", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "families")
RECALL = ("MUTAG", "PROTEINS", "NCI1", "IMDB-BINARY")
MOST = 500


def load(name: str) -> gm.Dataset:
    return gm.make_graph_families(random_state=0) if name == "families" else gm.load_dataset(name)


def vote(data: gm.Dataset, name: str, embedding: str) -> float:
    """Return the accuracy of 10 folds, in per cent."""
    chosen = np.random.default_rng(0).permutation(len(data.graphs))[:MOST]
    near = gm.NearestGraphs(5, embedding=embedding_named(embedding), random_state=0, n_jobs=-1)
    classifier = make_pipeline(near, KNeighborsClassifier(5, metric="precomputed"))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scores = cross_val_score(classifier, data.graphs[chosen], data.target[chosen], cv=folds)
    return 100 * float(scores.mean())


def recall(data: gm.Dataset, n_components: int) -> float:
    """Return the share of 10 exact neighbours that are found by vectors of so many columns."""
    embedding = default_embedding(data.graphs, n_components)
    near = gm.NearestGraphs(10, embedding=embedding, exact=False, random_state=0, n_jobs=-1)
    return near.fit(data.graphs).recall_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["vote", "recall"])
    parser.add_argument("--datasets", nargs="+")
    embeddings = ["default", "structure", "paper", "depths"]
    parser.add_argument("--embeddings", nargs="+", default=embeddings)
    parser.add_argument("--components", nargs="+", type=int, default=[64, 256, 1024])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = options.embeddings if options.what == "vote" else options.components
    print("| set |", " | ".join(map(str, columns)), "|\n|" + "---|" * (1 + len(columns)))
    for name in options.datasets or (VOTE if options.what == "vote" else RECALL):
        data, cells = load(name), []
        for column in columns:
            if options.what == "vote":
                cells.append(f"{vote(data, name, column):.1f}")
            else:
                cells.append(f"{recall(data, column):.2f}")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
