"""
Predict a number: the polar surface of molecules
================================================

RDKit carries the topological polar surface area (TPSA) of five thousand molecules of the NCI. It
is a sum over groups of atoms, so what surrounds each atom should tell it. `Ridge` predicts it
from the vectors.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from rdkit import RDConfig, RDLogger
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import graphmover as gm

RDLogger.DisableLog("rdApp.*")
table = pd.read_csv(
    Path(RDConfig.RDDataDir, "NCI", "first_5k.tpsa.csv"), skiprows=1, names=["smiles", "tpsa"]
).head(1000)
graphs, area = gm.as_graph_batch(list(table["smiles"])), table["tpsa"].to_numpy()
print(graphs)

# %%
# Five shuffled folds. `GraphVectorizer` is scaled so that ``Ridge()`` needs no tuning to begin
# with.

model = make_pipeline(gm.GraphVectorizer(256, random_state=0, n_jobs=2), Ridge())
folds = KFold(5, shuffle=True, random_state=0)
predicted = cross_val_predict(model, graphs, area, cv=folds)
mean = cross_val_predict(DummyRegressor(), np.zeros((len(graphs), 1)), area, cv=folds)
for name, values in {
    "the mean of the training set": mean,
    "GraphVectorizer, Ridge": predicted,
}.items():
    error = mean_absolute_error(area, values)
    print(f"{name}: mean absolute error {error:.1f}, R2 {r2_score(area, values):.3f}")

# %%

figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
axis.scatter(area, predicted, s=8, alpha=0.6)
end = area.max()
axis.plot([0, end], [0, end], color="0.5", lw=1)
axis.set(xlabel="TPSA", ylabel="predicted in the test fold", aspect="equal")
