"""
Outliers: molecules unlike the others
=====================================

Which of 1,000 molecules have no relatives? The mean distance to the ten nearest vectors tells.
Nothing is labelled, and nothing is trained but the vectorizer.
"""

# sphinx_gallery_thumbnail_number = 2

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem, RDConfig, RDLogger
from rdkit.Chem import Draw
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

import graphmover as gm

RDLogger.DisableLog("rdApp.*")
lines = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text("utf-8").splitlines()
molecules = [Chem.MolFromSmiles(line.split()[0]) for line in lines[:1000]]
vectors = gm.GraphVectorizer(256, random_state=0, n_jobs=2).fit_transform(molecules)
distances, _ = NearestNeighbors(n_neighbors=11).fit(vectors).kneighbors(vectors)
score = distances[:, 1:].mean(axis=1)  # the first neighbour is the molecule itself

# %%
# The distribution has a long tail:

figure, axis = plt.subplots(figsize=(7, 2.6), layout="constrained")
axis.hist(score, bins=60)
axis.set(xlabel="mean distance to the ten nearest", ylabel="molecules")

# %%
# The eight with the highest scores, and below them the four most ordinary ones, each with its
# number in the collection and its score.

order = np.argsort(-score, kind="stable")
figure, axes = plt.subplots(3, 4, figsize=(10, 7.5), layout="constrained")
for index, axis in zip([*order[:8], *order[-4:]], axes.flat, strict=True):
    axis.imshow(Draw.MolToImage(molecules[index], size=(360, 270)))
    axis.set_title(f"NSC {lines[index].split()[1]}: {score[index]:.1f}", fontsize=10)
    axis.axis("off")

# %%
# Does such a score find what is known to be foreign? Not always: random graphs of carbon atoms do
# not stand out among these molecules. In a more uniform collection it does: here five graphs of
# other families are hidden among 95 of one family. The area under the ROC curve is the probability
# that a foreign graph scores higher than one of the family: 0.5 is chance, 1 is perfect.

data = gm.make_graph_families(600, random_state=0)
for family, name in {1: "rings", 2: "two communities", 3: "four communities"}.items():
    own, foreign = data.graphs[data.target == family], data.graphs[data.target != family]
    mixed = gm.GraphVectorizer(128, random_state=0).fit_transform([*own[:95], *foreign[:5]])
    distances, _ = NearestNeighbors(n_neighbors=11).fit(mixed).kneighbors(mixed)
    is_foreign = np.arange(100) >= 95
    area = roc_auc_score(is_foreign, distances[:, 1:].mean(axis=1))
    print(f"among {name}: {area:.3f}")
