"""
Files: embed what does not fit in memory
========================================

`transform_to` reads graphs batch by batch and writes their vectors. Here the run is interrupted
on purpose, resumed, and compared with one that was not.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import graphmover as gm

folder = Path(tempfile.mkdtemp())
data = gm.make_graph_families(2000, random_state=0)
gm.write_graphs(data, folder / "graphs.parquet")
print(gm.read_graphs(folder / "graphs.parquet"))

# %%
# Fit on some of the graphs, then stream all of them.

embedding = gm.RandomGraphEmbedding(64, random_state=0, n_jobs=2).fit(data.graphs[:300])
print(embedding.transform_to(folder / "graphs.parquet", folder / "vectors.npy", batch_size=250))

# %%
# The same in a run that ends in the middle: the source fails after 1,200 graphs, as a disk or a
# network may. What was committed is kept beside the output.


def failing(graphs):
    """Yield graphs until something breaks."""
    for index, graph in enumerate(graphs):
        if index == 1200:
            raise OSError("the network is gone")
        yield graph


try:
    embedding.transform_to(failing(data.graphs), folder / "again.npy", batch_size=250)
except OSError as error:
    print(f"{error}; left: {[path.name for path in folder.glob('again*')]}")
print(embedding.transform_to(data.graphs, folder / "again.npy", batch_size=250), "after resuming")

one = np.load(folder / "vectors.npy", mmap_mode="r")  # memory-mapped: not read into memory
two = np.load(folder / "again.npy", mmap_mode="r")
print("the same bytes:", one.tobytes() == two.tobytes())

# %%
# Every fifth row is read from the file, and shown by family: its columns less their means, and its
# first two principal components.

rows = np.argsort(data.target, kind="stable")[::5]
vectors, families = one[rows], data.target[rows]
names = ["random", "ring", "two communities", "four communities", "outpost", "hierarchy"]
middles = [np.flatnonzero(families == family).mean() for family in range(6)]
points = PCA(2).fit_transform(vectors)

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
centred = vectors - vectors.mean(axis=0)
axes[0].imshow(centred, aspect="auto", interpolation="nearest", cmap="RdBu", vmin=-0.03, vmax=0.03)
axes[0].set(xlabel="column")
axes[0].set_yticks(middles, labels=names)
for family, name in enumerate(names):
    axes[1].scatter(*points[families == family].T, s=8, label=name)
axes[1].set(xlabel="first component", ylabel="second component", xticks=[], yticks=[])
figure.legend(frameon=False, fontsize=8, loc="outside right upper")
