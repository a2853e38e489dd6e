"""Draw the pictures of docs/getting-started.md and README.md: `python docs/draw_pictures.py`.

They are measured on data sets of the TU collection, in a few minutes on two cores.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.views import automatic_views

FOLDER = Path(__file__).parent / "pictures"


def main() -> None:
    """Draw all pictures, or those named."""
    mpl.use("agg")
    pictures = {"idea": idea, "numbers": numbers, "views": views, "map": molecules}
    for name in sys.argv[1:] or pictures:
        figure = pictures[name]()
        figure.savefig(FOLDER / f"{name}.png", dpi=90, facecolor="white")
        print(FOLDER / f"{name}.png")


def idea() -> plt.Figure:
    """Show one graph on its way to a vector."""
    data = gm.make_graph_families(60, random_state=0)
    embedding = gm.RandomGraphEmbedding(24, max_random_nodes=8, random_state=3).fit(data.graphs)
    graph = data.graphs[np.flatnonzero(data.target == 2)[0]]
    nodes = gm.embed_nodes(graph)
    shown = int(np.argmax(embedding.random_graphs_.node_counts))
    random_graph = embedding.random_graphs_[shown]
    plan, cost = gm.transport_plan(nodes, random_graph)
    row = embedding.transform([graph])[0]

    figure, grid = plt.subplots(2, 2, figsize=(8.5, 6), layout="constrained")
    axes = grid.ravel()
    drawn = graph.to_networkx()
    nx.draw(drawn, nx.spring_layout(drawn, seed=1), ax=axes[0], node_size=18, width=0.4)
    axes[0].set_title("1. a graph")
    axes[1].scatter(nodes.points[:, 1], nodes.points[:, 2], s=12 * nodes.masses)
    axes[1].set_title("2. its nodes as points")
    axes[2].scatter(nodes.points[:, 1], nodes.points[:, 2], s=12 * nodes.masses)
    axes[2].scatter(
        random_graph.points[:, 1], random_graph.points[:, 2], s=90, marker="s", color="C1"
    )
    for i, j in np.argwhere(plan > 0):
        ends = np.stack([nodes.points[i], random_graph.points[j]])
        axes[2].plot(ends[:, 1], ends[:, 2], color="0.5", lw=25 * plan[i, j], zorder=0)
    axes[2].set_title(f"3. onto a random graph: EMD {cost:.3f}")
    for axis in axes[1:3]:
        axis.set(xticks=[], yticks=[])
    colours = ["C0"] * len(row)
    colours[shown] = "C1"
    axes[3].bar(np.arange(len(row)), row, color=colours)
    axes[3].set(yticks=[], xlabel="random graph")
    axes[3].set_title(r"4. a row: exp(-gamma EMD) / $\sqrt{R}$")
    return figure


def numbers() -> plt.Figure:
    """Show what raising R, gamma and D_max does to accuracy, on ENZYMES with its labels."""
    data = gm.load_dataset("ENZYMES")
    folds = [*StratifiedKFold(5, shuffle=True, random_state=0).split(data.target, data.target)]

    def distances(**parameters):
        for train, _ in folds:
            settings = {"random_state": 0, "n_jobs": 2, **parameters}
            embedding = gm.RandomGraphEmbedding(**settings).fit(data.graphs[train])
            yield embedding.distances(data.graphs), embedding.gamma_

    def accuracy(of_folds, factor=1.0, R=None):
        scores = []
        for (train, test), (E, gamma) in zip(folds, of_folds, strict=True):
            Z = np.exp(-factor * gamma * E[:, :R])
            Z = 30 * (Z - Z[train].mean(axis=0)) / np.sqrt(Z[train].var(axis=0).sum())
            model = LogisticRegression(max_iter=1000).fit(Z[train], data.target[train])
            scores.append(model.score(Z[test], data.target[test]))
        return 100 * np.mean(scores), 100 * np.std(scores) / np.sqrt(len(folds))

    once = [*distances(n_components=1024)]
    sizes = {
        "R": (2 ** np.arange(2, 11), lambda R: accuracy(once, R=R)),
        "gamma / scale": (10.0 ** np.arange(-2, 4), lambda factor: accuracy(once, factor)),
        "D_max": (
            np.array([1, 2, 5, 10, 20, 30]),
            lambda size: accuracy(distances(n_components=256, max_random_nodes=int(size))),
        ),
    }
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained", sharey=True)
    for axis, (name, (values, measure)) in zip(axes, sizes.items(), strict=True):
        scores = np.array([measure(value) for value in values])
        print(name, dict(zip(values.tolist(), scores[:, 0].round(1).tolist(), strict=True)))
        axis.errorbar(values, *scores.T, marker="o")
        axis.set(xscale="log", xlabel=name)
    axes[0].set_ylabel("accuracy in per cent, ENZYMES")
    return figure


def views() -> plt.Figure:
    """Show the accuracy of each view alone, and of all of them."""
    names = ["MUTAG", "PTC_MR", "IMDB-BINARY", "ENZYMES"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    figure, axes = plt.subplots(2, 2, figsize=(8.5, 5), layout="constrained")
    for axis, name in zip(axes.flat, names, strict=True):
        data = gm.load_dataset(name)
        single = {view.name: [tuple(view)] for view in automatic_views(data.graphs, 256)}
        scores = {}
        for title, chosen in {**single, "all": "auto"}.items():
            vectorizer = gm.GraphVectorizer(256, views=chosen, random_state=0, n_jobs=2)
            model = make_pipeline(clone(vectorizer), LogisticRegression(max_iter=1000))
            found = cross_val_score(model, data.graphs, data.target, cv=folds)
            scores[title] = 100 * found.mean()
        print(name, {title: round(float(score), 1) for title, score in scores.items()})
        colours = ["C1" if title == "all" else "C0" for title in scores]
        axis.barh(list(scores), scores.values(), color=colours)
        majority = 100 * max(np.mean(data.target == kind) for kind in set(data.target))
        axis.axvline(majority, color="0.3", ls="--", lw=1)
        axis.set(title=name, xlabel="accuracy in per cent")
        axis.invert_yaxis()
    return figure


def molecules() -> plt.Figure:
    """Draw a map of molecules, with some of them drawn."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage
    from rdkit import Chem, RDConfig
    from rdkit.Chem import Draw
    from sklearn.cluster import KMeans

    lines = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text("utf-8").splitlines()[:600]
    mols = [Chem.MolFromSmiles(line.split()[0]) for line in lines]
    vectors = gm.GraphVectorizer(256, random_state=0, n_jobs=2).fit_transform(mols)
    points = TSNE(random_state=0, method="exact", init="pca").fit_transform(vectors)
    kmeans = KMeans(7, random_state=0, n_init=4).fit(points)
    figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
    axis.scatter(*points.T, s=12, c=[f"C{cluster}" for cluster in kmeans.labels_], alpha=0.7)
    for cluster, index in enumerate(kmeans.transform(points).argmin(axis=0)):
        options = Draw.MolDrawOptions()
        options.clearBackground = False
        picture = Draw.MolToImage(mols[index], size=(300, 220), options=options)
        box = AnnotationBbox(
            OffsetImage(np.asarray(picture), zoom=0.27),
            points[index],
            pad=0.1,
            bboxprops={"edgecolor": f"C{cluster}", "boxstyle": "round"},
        )
        axis.add_artist(box)
    axis.set(xticks=[], yticks=[])
    for side in axis.spines.values():
        side.set_visible(False)
    return figure


if __name__ == "__main__":
    main()
