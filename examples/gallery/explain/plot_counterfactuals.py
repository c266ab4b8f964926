"""
What would have to change
=========================

The smallest edits that change the class of a molecule, found exactly and checked by the model itself.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

# %%
# Is a molecule a phenethylamine, such as amphetamine, or does it belong to another family?
data = pk.datasets.load("FAMILIES")
target = np.array(data.target_names)[data.target] == "phenethylamine"
names = np.where(target, "phenethylamine", "other family")
kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True)
model = pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, names)

decisions = np.where(target, model.decision_function(data.graphs), np.inf)
chosen = int(np.argmin(np.where(decisions > 0, decisions, np.inf)))  # the one that is nearest to the boundary
changes = model.counterfactuals(data.graphs[chosen], n=5)
print(data.graphs.ids[chosen])
print(changes)

# %%
# The molecule and the closest one on the other side of the boundary, on one scale.
shown = [data.graphs[chosen], changes.graph(0)]
explanation = model.explain(shown)
limit = abs(explanation.node_totals).max()
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
titles = [data.graphs.ids[chosen], ", ".join(map(str, changes.edits[0]))]
for i, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    pk.plotting.plot_explanation(explanation, graph=i, limit=limit, ax=ax)
    ax.set_title(f"{title}\ndecision {explanation.decisions[i]:+.2f}", fontsize=10)
plt.show()
