"""
Ego networks: who plays the same role?
======================================

The ego network of a person is the graph of the people they meet, and who of those meet each
other. Two people can play the same role without ever meeting: their ego networks look alike. Here
the people are the characters of *Les Misérables*, whose 254 meetings networkx carries.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.manifold import TSNE

import graphmover as gm

novel = nx.les_miserables_graph()


def ego_network(name):
    """Return the graph of a person and the people they meet, in alphabetical order."""
    ego = nx.Graph()
    ego.add_nodes_from(sorted([name, *novel[name]]))
    ego.add_edges_from(novel.subgraph(ego).edges(data=True))
    return ego


egos = {name: ego_network(name) for name in novel if novel.degree(name) >= 4}
batch = gm.as_graph_batch(egos)
print(batch)

# %%
# Four ego networks, the person in orange. A clique is a group in which everybody knows everybody;
# parts that are not joined to each other are circles that only this person connects.

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for name, axis in zip(["Valjean", "Javert", "Enjolras", "Myriel"], axes, strict=True):
    colours = ["tab:orange" if node == name else "tab:blue" for node in egos[name]]
    layout = nx.spring_layout(egos[name], seed=2)
    nx.draw(egos[name], layout, ax=axis, node_size=20, width=0.4, node_color=colours)
    axis.set_title(name)

# %%
# The most similar roles:

vectors = gm.GraphVectorizer(128, random_state=0).fit_transform(batch)
for name in ("Valjean", "Enjolras", "Cosette", "Fantine"):
    row = list(batch.ids).index(name)
    nearest = np.argsort(np.linalg.norm(vectors - vectors[row], axis=1), kind="stable")[1:4]
    print(f"{name}: {', '.join(batch.ids[nearest])}")

# %%
# A map by t-SNE: characters that are close have ego networks that look alike. Colour is the
# number of acquaintances.

points = TSNE(random_state=0, method="exact", perplexity=20).fit_transform(vectors)
figure, axis = plt.subplots(figsize=(9, 6), layout="constrained")
shown = axis.scatter(*points.T, c=batch.node_counts - 1, s=24, cmap="viridis")
for name in ("Valjean", "Javert", "Cosette", "Enjolras", "Gavroche", "Fantine", "Myriel", "Marius"):
    point = points[list(batch.ids).index(name)]
    axis.annotate(name, point, fontsize=9, xytext=(4, 4), textcoords="offset points")
figure.colorbar(shown, label="acquaintances")
axis.margins(0.1)
axis.set(xticks=[], yticks=[])
