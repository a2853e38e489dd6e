"""
Alignment: two molecules, atom by atom
======================================

A distance between graphs is a sum over nodes. `explain` shows which node of one is matched with
which of the other, and what it costs.
"""

import graphmover as gm

molecules = gm.as_graph_batch(
    [
        "OC(=O)c1ccccc1O salicylic acid",
        "CC(=O)Oc1ccccc1C(=O)O aspirin",
        "CC(=O)Nc1ccc(O)cc1 paracetamol",
    ]
)
vectorizer = gm.GraphVectorizer(64, random_state=0).fit(molecules)
alignment = gm.explain(molecules[0], molecules[1], vectorizer, view="counts")
print(alignment)

# %%
# Atoms that are matched have the same colour; what has no counterpart is grey.

figure = alignment.plot()

# %%
# The same as a table, the most expensive flows first:

print(alignment.to_frame().head(6).to_string(index=False))

# %%
# Aspirin is closer to salicylic acid than to paracetamol, from which more atoms have to be moved:

other = gm.explain(molecules[2], molecules[1], vectorizer, view="counts")
print(f"salicylic acid {alignment.distance:.3f}, paracetamol {other.distance:.3f}")
figure = other.plot()
