"""
A map of six families of graphs
===============================

Three hundred random graphs of six families, as vectors, on one sheet. `GraphVectorizer` sees no
family names: graphs that are alike end up side by side because their vectors are.
"""

import matplotlib.pyplot as plt
import networkx as nx
from sklearn.manifold import TSNE

import graphmover as gm

data = gm.make_graph_families(300, random_state=0)
vectors = gm.GraphVectorizer(128, random_state=0, n_jobs=2).fit_transform(data.graphs)
print(vectors.shape)

# %%
# One graph of each family, as networkx draws it:

names = sorted(set(data.target))
figure, axes = plt.subplots(1, len(names), figsize=(11, 2.2), layout="constrained")
for axis, name in zip(axes, names, strict=True):
    first = list(data.target).index(name)
    graph = data.graphs[first].to_networkx()
    nx.draw(graph, nx.kamada_kawai_layout(graph), ax=axis, node_size=12, width=0.6)
    axis.set_title(str(name))

# %%
# t-SNE lays the vectors out in the plane. The colours are the families.

points = TSNE(random_state=0, perplexity=20).fit_transform(vectors)
figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
for name in names:
    axis.scatter(*points[data.target == name].T, s=14, label=str(name))
axis.legend(markerscale=1.5, frameon=False)
axis.set(xticks=[], yticks=[])
