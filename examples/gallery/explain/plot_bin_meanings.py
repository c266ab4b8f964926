"""
What a model has learned, as substructures
==========================================

A decision is a sum of weights of bins, and a bin is a kind of neighborhood. ``top_bins`` lists the
strongest with an example, as SMARTS for molecules and as a small graph for everything.
"""

import matplotlib.pyplot as plt
from rdkit import Chem

import propkernels as pk

chains = [
    "C",
    "CC",
    "CCC",
    "C(C)C",
    "CCCC",
    "CC(C)C",
    "C1CCCC1",
    "C1CCCCC1",
    "Cc1ccccc1",
    "CCc1ccccc1",
    "c1ccccc1",
]
ends = {"O": 1, "N": 1, "F": 0, "Cl": 0, "CO": 0}
smiles = [end + chain for chain in chains for end in ends]
active = [active for _ in chains for active in ends.values()]
molecules = [Chem.MolFromSmiles(text) for text in smiles]
graphs = pk.from_rdkit(molecules, node_labels="symbol")

model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=2), random_state=0).fit(graphs, active)
bins = model.top_bins(graphs, active, n=10, molecules=molecules)
print(bins)

# %%
# The weights of the bins. The atom that is in the bin comes first in its SMARTS.
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
weights = [one.weight for one in bins]
names = [f"{one.smarts}  (radius {one.t}, {one.n_graphs} molecules)" for one in bins]
ax.barh(
    range(len(bins)),
    weights,
    tick_label=names,
    color=["tab:red" if weight > 0 else "tab:blue" for weight in weights],
)
ax.invert_yaxis()
ax.axvline(0, color="0.3", linewidth=0.8)
ax.set(xlabel="inactive  ←  weight of the bin  →  active")
plt.show()
