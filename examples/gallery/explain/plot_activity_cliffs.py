"""
An activity cliff: one atom, ten-fold potency
=============================================

Two molecules that differ by a single atom usually have about the same potency. Where they do not, chemists
speak of an activity cliff. What does a model see there, and how sure is it?

The molecules are the combinations of three cores, seven substituents and eight tails. Potencies are made up,
so that we know the truth: the nitrogen of pyridine is worth a factor of ten if the tail is an amine,
substituents shift the potency a little, and every measurement has an error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import propkernels as pk

CORES = {
    "benzene": "c1cc({tail})ccc1{group}",
    "pyridine": "c1cc({tail})cnc1{group}",
    "pyrimidine": "c1nc({tail})cnc1{group}",
}
GROUPS = {"F": 0.0, "Cl": 0.2, "Br": 0.3, "C": 0.1, "CC": 0.3, "OC": 0.2, "C(F)(F)F": 0.5}
TAILS = ["CN", "CCN", "CNC", "CN1CCCC1", "CO", "CCO", "COC", "CC"]

rng = np.random.default_rng(0)
smiles, potency, rows = [], [], []
for core, text in CORES.items():
    for group, shift in GROUPS.items():
        for tail in TAILS:
            smiles.append(text.format(tail=tail, group=group))
            rows.append((core, group, tail))
            potency.append(6 + shift + (core == "pyridine" and "N" in tail))
potency = np.array(potency) + rng.normal(scale=0.15, size=len(potency))

# %%
# A pair on a cliff is held out: the same substituent and tail, benzene against pyridine. The two molecules
# differ by one atom, and their potencies by a factor of ten.

pair = [rows.index(("benzene", "Cl", "CCN")), rows.index(("pyridine", "Cl", "CCN"))]
rest = [i for i in range(len(smiles)) if i not in pair]
model = make_pipeline(pk.MoleculesToGraphs(), pk.PropagationRegressor(random_state=0))
model.fit([smiles[i] for i in rest], potency[rest])
two = [smiles[i] for i in pair]
predicted, interval = model.predict(two, coverage=0.9)
for text, value, (low, high), truth in zip(two, predicted, interval, potency[pair], strict=True):
    print(f"{text}: predicted {value:.2f} (90 %: {low:.2f} to {high:.2f}), measured {truth:.2f}")

# %%
# What the model sees: contributions of atoms add up to the prediction. The nitrogen of the ring and the amine
# carry the difference, together: that is the rule by which the potencies were made.

explanation = model[-1].explain(model[:-1].transform(two))
totals = [explanation.of_graph(i).sum(axis=1) for i in range(2)]
limit = max(np.abs(values).max() for values in totals)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for i, axis in enumerate(axes):
    pk.plotting.plot_explanation(model, two, i, ax=axis, limit=limit)
    sure = f"predicted {predicted[i]:.2f} ({interval[i, 0]:.2f} to {interval[i, 1]:.2f})"
    axis.set_title(f"{rows[pair[i]][0]}: measured {potency[pair[i]]:.2f}\n{sure}")
plt.show()

# %%
# The default regressor tries neighborhoods of atoms up to three bonds away, and shortest paths between atoms.
# It says what it chose: here atoms alone, by element, invariants and role.

print("chosen kernel:", model[-1].kernel_)
for i in range(2):
    print(explanation.table(graph=i, n=3))
