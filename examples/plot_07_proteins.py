"""
Proteins: nodes with attributes
===============================

ENZYMES (Borgwardt et al. 2005) has 600 proteins of six classes. Nodes are helices, sheets and
turns, with physical and chemical attributes; edges join neighbours along the chain and in space.
If the data set is in the folder that ``GRAPHMOVER_DATA`` names, every second protein is used.
Otherwise chains of three classes are generated and take their place: the output says which.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import graphmover as gm


def generated(n_graphs=180, random_state=0):
    """Return chains that fold back on themselves, in three classes."""
    generator = np.random.default_rng(random_state)
    graphs, classes = [], generator.integers(3, size=n_graphs)
    for kind in classes:
        n_nodes = int(generator.integers(15, 40))
        labels = generator.choice(3, size=n_nodes, p=np.roll([0.4, 0.35, 0.25], kind))
        contacts = generator.integers(n_nodes, size=(n_nodes, 2))
        near = contacts[np.abs(np.diff(contacts, axis=1))[:, 0] <= 4 + kind]
        edges = [*((u, u + 1) for u in range(n_nodes - 1)), *map(tuple, near)]
        lengths = generator.gamma(2 + 2 * (labels == kind), size=n_nodes)
        graphs.append(
            gm.Graph(n_nodes, edges, node_labels=labels, node_attributes=lengths[:, None])
        )
    return gm.Dataset("generated chains", gm.as_graph_batch(graphs), classes)


try:
    data = gm.load_dataset("ENZYMES", download=False)[::2]
except FileNotFoundError:
    data = generated()
print("shown here:", data)

# %%
# One graph of each class. Colours are the node labels: helices, sheets and turns.

kinds = np.unique(data.target)
figure, axes = plt.subplots(1, len(kinds), figsize=(11, 3), layout="constrained")
for kind, axis in zip(kinds, axes, strict=True):
    graph = data.graphs[np.flatnonzero(data.target == kind)[3]]
    drawn = graph.to_networkx()
    nx.draw(
        drawn,
        nx.kamada_kawai_layout(drawn),
        ax=axis,
        node_size=24,
        node_color=np.unique(graph.node_labels, return_inverse=True)[1],
        cmap="Set2",
        width=0.5,
    )
    axis.set_title(f"class {kind}", fontsize=10)

# %%
# What views without attributes score alone, and what the views that the vectorizer chooses score
# together: the attributes tell most. Folds are shuffled: the files list the enzymes class by class.

folds = StratifiedKFold(3, shuffle=True, random_state=0)
chosen = gm.GraphVectorizer(64).fit(data.graphs).views_
shape = ("shape", gm.RandomGraphEmbedding(64, use_node_labels=False))
labels = gm.RandomGraphEmbedding(64, node_embedding=None, wl_iterations=2, wl_depths="all")
views = {"shape": [shape], "labels": [("labels", labels)], "sizes": [("sizes", gm.GraphSizes())]}
scores = {}
for name, listed in {**views, f"all ({', '.join(name for name, _ in chosen)})": "auto"}.items():
    vectorizer = gm.GraphVectorizer(64, views=listed, random_state=0, n_jobs=2)
    model = make_pipeline(vectorizer, LogisticRegression(max_iter=1000))
    scores[name] = cross_val_score(model, data.graphs, data.target, cv=folds).mean()
    print(f"{name}: {scores[name]:.3f}")

# %%

figure, axis = plt.subplots(figsize=(8, 2.6), layout="constrained")
axis.barh(list(scores), scores.values())
axis.axvline(1 / len(kinds), color="0.4", ls="--", label="chance")
axis.set(xlabel=f"accuracy, 3 shuffled folds, {data.name}", xlim=(0, 1))
axis.invert_yaxis()
axis.legend(frameon=False)
