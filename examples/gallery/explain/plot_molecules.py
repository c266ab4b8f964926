"""
From SMILES to an explained prediction
======================================

A small made-up assay: molecules with a nitro group on an aromatic ring are active, on other carbons not.
The model is told nothing about chemistry; the explanation shows that it found the group.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import propkernels as pk

rings = [
    "c1ccc({})cc1",
    "Cc1ccc({})cc1",
    "Clc1cccc({})c1",
    "CCc1ccc({})cc1",
    "COc1ccc({})cc1",
    "c1ccc2cc({})ccc2c1",
    "C1CCC({})CC1",
    "CCC({})CC",
    "CC1CCC({})C1",
]
groups = ["[N+](=O)[O-]", "O", "N", "C(=O)O", "NC(C)=O"]
smiles = [ring.format(group) for ring in rings for group in groups]
active = [int("c" in ring and group == "[N+](=O)[O-]") for ring in rings for group in groups]

# %%
# A pipeline of scikit-learn: molecules become graphs, and graphs become predictions. Folds never split a
# scaffold.
model = make_pipeline(
    pk.MoleculesToGraphs(node_labels="symbol+aromatic"),
    pk.PropagationClassifier(
        kernel=pk.WeisfeilerLehman(t_max=2), t_max=2, C=100, class_weight="balanced", random_state=0
    ),
)
scores = cross_val_score(
    model,
    smiles,
    active,
    groups=[i // 5 for i in range(len(smiles))],
    cv=GroupKFold(3),
    scoring="balanced_accuracy",
)
print("balanced accuracy on new ring systems:", scores.mean().round(2))

# %%
# New molecules: one with the group, and paracetamol, without it.
new = ["CC(C)Cc1ccc([N+](=O)[O-])cc1", "CC(=O)Nc1ccc(O)cc1"]
model.fit(smiles, active)
probabilities = model.predict_proba(new)[:, 1]

fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for i, ax in enumerate(axes):
    pk.plotting.plot_explanation(model, new, i, class_names={0: "inactive", 1: "active"}, ax=ax)
    ax.set_title(f"{new[i]}\nprobability of being active: {probabilities[i]:.2f}", fontsize=10)
plt.show()
