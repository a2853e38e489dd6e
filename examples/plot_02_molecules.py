"""
Molecules that look alike
=========================

The first thousand molecules of the NCI's collection, which RDKit carries, become vectors: atoms
are nodes, labelled by element, and bonds are edges, labelled by order. Molecules with similar
vectors have similar structures.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem, RDConfig, RDLogger
from rdkit.Chem import Draw

import graphmover as gm

RDLogger.DisableLog("rdApp.*")
source = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi")

# %%
# RDKit rejects some lines of that file: ``errors="skip"`` leaves them out and lists them in
# ``skipped``.

skipped = []
data = gm.read_graphs(source, errors="skip", skipped=skipped)[:1000]
print(data)
print(skipped[0])

# %%
# A row per molecule. `views_` tells what the vectorizer made of labels, bonds and structure.

vectorizer = gm.GraphVectorizer(256, random_state=0, n_jobs=2)
vectors = vectorizer.fit_transform(data)
print(vectors.shape, [name for name, _ in vectorizer.views_])

# %%
# Four molecules, each in a row with the three others whose vectors are closest. The titles are
# the numbers of the collection, which are the ids of the graphs.

smiles = {title: line for line, title in map(str.split, source.read_text("utf-8").splitlines())}
queries = [0, 150, 400, 950]
figure, axes = plt.subplots(4, 4, figsize=(10, 9), layout="constrained")
for query, row in zip(queries, axes, strict=True):
    distances = np.linalg.norm(vectors - vectors[query], axis=1)
    for index, axis in zip(np.argsort(distances, kind="stable")[:4], row, strict=True):
        molecule = Chem.MolFromSmiles(smiles[str(data.ids[index])])
        axis.imshow(Draw.MolToImage(molecule, size=(360, 270)))
        axis.set_title(f"NSC {data.ids[index]}, distance {distances[index]:.1f}", fontsize=9)
        axis.axis("off")
