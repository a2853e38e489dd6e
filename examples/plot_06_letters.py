"""
Drawings: distorted letters
===========================

A capital letter is a graph: strokes are edges, their ends are nodes, and a node's attributes are
where it lies. As in the data set Letter-high, each letter is drawn many times with the ends moved
and some strokes lost, and the classifier has to read it. The drawings are made here; with the
data set at hand, ``gm.load_dataset("Letter-high")`` takes their place.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import graphmover as gm

CORNERS = {  # where strokes end
    "A": [(0, 0), (1, 3), (2, 0), (0.5, 1.5), (1.5, 1.5)],
    "E": [(0, 0), (0, 1.5), (0, 3), (2, 0), (2, 1.5), (2, 3)],
    "F": [(0, 0), (0, 1.5), (0, 3), (2, 1.5), (2, 3)],
    "H": [(0, 0), (0, 1.5), (0, 3), (2, 0), (2, 1.5), (2, 3)],
    "K": [(0, 0), (0, 1.5), (0, 3), (2, 0), (2, 3)],
    "N": [(0, 0), (0, 3), (2, 0), (2, 3)],
    "Z": [(0, 3), (2, 3), (0, 0), (2, 0)],
}
STROKES = {  # which ends they join
    "A": [(0, 3), (3, 1), (1, 4), (4, 2), (3, 4)],
    "E": [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5)],
    "F": [(0, 1), (1, 2), (1, 3), (2, 4)],
    "H": [(0, 1), (1, 2), (3, 4), (4, 5), (1, 4)],
    "K": [(0, 1), (1, 2), (1, 3), (1, 4)],
    "N": [(0, 1), (1, 2), (2, 3)],
    "Z": [(0, 1), (1, 2), (2, 3)],
}


def drawing(letter, generator):
    """Return a letter whose strokes end elsewhere, or are missing."""
    moved = np.asarray(CORNERS[letter])
    moved = moved + generator.normal(scale=0.7, size=moved.shape)
    kept = [stroke for stroke in STROKES[letter] if generator.random() > 0.1]
    return gm.Graph(len(moved), kept, node_attributes=moved)


generator = np.random.default_rng(0)
letters = np.repeat(list(CORNERS), 50)
graphs = [drawing(letter, generator) for letter in letters]

figure, axes = plt.subplots(3, 7, figsize=(10, 5), layout="constrained")
for column, below in enumerate(axes.T):
    for row, axis in enumerate(below):
        graph = graphs[column * 50 + row]
        for u, v in graph.edges:
            axis.plot(*graph.node_attributes[[u, v]].T, color="tab:blue", marker="o", ms=3)
        axis.set(xlim=(-2, 4), ylim=(-2, 5), aspect="equal")
        axis.axis("off")
    below[0].set_title(letters[column * 50])

# %%
# The vectorizer sees attributes, and compares drawings by moving the ends of one onto the
# other's.

model = make_pipeline(
    gm.GraphVectorizer(256, random_state=0, n_jobs=2), LogisticRegression(max_iter=1000)
)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
predicted = cross_val_predict(model, graphs, letters, cv=folds)
print(f"accuracy {np.mean(predicted == letters):.3f}; chance is {1 / len(CORNERS):.3f}")

# %%
# Some that were misread. Would you have read them?

wrong = np.flatnonzero(predicted != letters)[:7]
figure, axes = plt.subplots(1, 7, figsize=(10, 2), layout="constrained")
for index, axis in zip(wrong, axes, strict=False):
    for u, v in graphs[index].edges:
        axis.plot(*graphs[index].node_attributes[[u, v]].T, color="tab:red", marker="o", ms=3)
    axis.set_title(f"{letters[index]}, read as {predicted[index]}", fontsize=9)
for axis in axes:
    axis.set(xlim=(-2, 4), ylim=(-2, 5), aspect="equal")
    axis.axis("off")
