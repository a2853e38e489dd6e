"""
R, gamma and D_max
==================

What the three numbers of a random graph embedding do, measured on 180 graphs of six families.
:doc:`Getting started </getting-started>` explains them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import graphmover as gm

data = gm.make_graph_families(180, random_state=0)
folds = [*StratifiedKFold(3, shuffle=True, random_state=0).split(data.target, data.target)]

# %%
# Distances depend neither on gamma nor, column by column, on R: they are computed once in each
# fold, with random graphs of its training graphs, and serve all values of both.


def distances_of_folds(**parameters):
    """Return the distances of all graphs to random graphs of each fold, and the fold's gamma."""
    for train, _ in folds:
        embedding = gm.RandomGraphEmbedding(random_state=0, n_jobs=2, **parameters)
        embedding.fit(data.graphs[train])
        yield embedding.distances(data.graphs), embedding.gamma_


def accuracy(distances, factor=1.0, n_components=None):
    """Return the mean accuracy of a linear classifier over folds, and its standard error."""
    scores = []
    for (train, test), (E, gamma) in zip(folds, distances, strict=True):
        features = np.exp(-factor * gamma * E[:, :n_components])
        scaler = StandardScaler().fit(features[train])
        model = RidgeClassifier(10).fit(scaler.transform(features[train]), data.target[train])
        scores.append(model.score(scaler.transform(features[test]), data.target[test]))
    return np.mean(scores), np.std(scores) / np.sqrt(len(folds))


distances = [*distances_of_folds(n_components=256)]

# %%
# **R**, the number of random graphs, is the number of columns. More of them approximate the
# kernel better, at a cost that grows in proportion. Each error is the mean over all blocks of R
# among 1,024 columns; the kernel itself is taken from 2,048 others.

reference = gm.RandomGraphEmbedding(2048, random_state=1, n_jobs=2)
kernel = reference.fit(data.graphs).kernel(data.graphs)
Z = gm.RandomGraphEmbedding(1024, gamma=reference.gamma_, random_state=0, n_jobs=2)
Z = Z.fit_transform(data.graphs) * np.sqrt(1024)
numbers = 2 ** np.arange(2, 9)


def error(R):
    """Return the relative error of the kernel by R random graphs."""
    blocks = [Z[:, start : start + R] / np.sqrt(R) for start in range(0, 1024, R)]
    return np.mean([np.abs(block @ block.T - kernel).mean() for block in blocks]) / kernel.mean()


errors = [error(R) for R in numbers]
scores = np.array([accuracy(distances, n_components=R) for R in numbers])

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
axes[0].loglog(numbers, errors, marker="o", label="measured")
expected = errors[0] * np.sqrt(numbers[0] / numbers)
axes[0].loglog(numbers, expected, color="0.6", ls="--", label=r"$1 / \sqrt{R}$")
axes[0].set(xlabel="R", ylabel="relative error of the kernel")
axes[0].legend(frameon=False)
axes[1].errorbar(numbers, scores[:, 0], scores[:, 1], marker="o")
axes[1].set(xlabel="R", ylabel="accuracy", xscale="log")

# %%
# **gamma** says how fast a feature falls with distance. If it is too small, all features are 1;
# if it is too large, all are 0. ``"scale"``, the default, is 1 over the median distance.

factors = 10.0 ** np.arange(-2, 4)
scores = np.array([accuracy(distances, factor) for factor in factors])

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
E, scale = distances[0]
for factor in (0.1, 1.0, 10.0):
    features = np.exp(-factor * scale * E).ravel()
    axes[0].hist(features, bins=60, histtype="step", label=f"{factor:g} x scale")
axes[0].set(xlabel="feature, times the root of R", ylabel="features", yscale="log")
axes[0].legend(frameon=False, loc="upper center")
axes[1].errorbar(factors, scores[:, 0], scores[:, 1], marker="o")
axes[1].set(xlabel="gamma / scale", ylabel="accuracy", xscale="log")

# %%
# **D_max** is the largest number of nodes of a random graph. One node measures how far the nodes
# of a graph are from one point, on average; more nodes can be matched to several parts of it.

sizes = [1, 3, 10, 30]
scores = np.array(
    [accuracy(distances_of_folds(n_components=64, max_random_nodes=size)) for size in sizes]
)
figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.errorbar(sizes, scores[:, 0], scores[:, 1], marker="o")
axis.set(xlabel="D_max", ylabel="accuracy", xscale="log")
axis.set_xticks(sizes, labels=sizes)
