"""
Clusters and a map of molecules
===============================

k-means on the vectors of 400 molecules of the NCI, and the molecule nearest to the centre of each
cluster. t-SNE draws the map.
"""

# sphinx_gallery_thumbnail_number = 2

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem, RDConfig, RDLogger
from rdkit.Chem import Draw
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE

import graphmover as gm

RDLogger.DisableLog("rdApp.*")
lines = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text("utf-8").splitlines()
molecules = [Chem.MolFromSmiles(line.split()[0]) for line in lines[:400]]
vectors = gm.GraphVectorizer(256, random_state=0, n_jobs=2).fit_transform(molecules)
kmeans = KMeans(8, random_state=0, n_init=4).fit(vectors)

# %%
# The eight central molecules, with the number of molecules in their clusters:

nearest = kmeans.transform(vectors).argmin(axis=0)
sizes = np.bincount(kmeans.labels_)
figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
for cluster, axis in enumerate(axes.flat):
    axis.imshow(Draw.MolToImage(molecules[nearest[cluster]], size=(360, 270)))
    axis.set_title(f"{sizes[cluster]} molecules", color=f"C{cluster}", weight="bold")
    axis.axis("off")

# %%
# The map. Crosses are the central molecules.

points = TSNE(random_state=0, method="exact", max_iter=500).fit_transform(vectors)
figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
axis.scatter(*points.T, c=[f"C{cluster}" for cluster in kmeans.labels_], s=14)
axis.scatter(*points[nearest].T, marker="x", s=60, color="black")
axis.set(xticks=[], yticks=[])
