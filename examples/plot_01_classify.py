"""
Classify graphs
===============

Six families of random graphs have the same degrees and differ in their global structure alone: a
ring, communities, a hierarchy. A pipeline of `GraphVectorizer` and a linear classifier tells them
apart.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import graphmover as gm

names = ["random", "ring", "two communities", "four communities", "outpost", "hierarchy"]
data = gm.make_graph_families(300, random_state=0)

figure, axes = plt.subplots(1, 6, figsize=(11, 2.2), layout="constrained")
for family, axis in enumerate(axes):
    graph = data.graphs[np.flatnonzero(data.target == family)[0]].to_networkx()
    nx.draw(graph, nx.kamada_kawai_layout(graph), ax=axis, node_size=12, width=0.5)
    axis.set_title(names[family], fontsize=10)

# %%
# The vectorizer is part of the pipeline, so each fold draws its random graphs from its own
# training graphs. Folds are shuffled: many files list their graphs class by class.

model = make_pipeline(
    gm.GraphVectorizer(256, random_state=0, n_jobs=2), LogisticRegression(max_iter=1000)
)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
predicted = cross_val_predict(model, data.graphs, data.target, cv=folds)
print(f"accuracy {np.mean(predicted == data.target):.3f}; chance is {1 / 6:.3f}")

# %%
# What is taken for what:

figure, axis = plt.subplots(figsize=(6.5, 5), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    data.target, predicted, display_labels=names, ax=axis, colorbar=False
)
plt.setp(axis.get_xticklabels(), rotation=30, ha="right", rotation_mode="anchor")
