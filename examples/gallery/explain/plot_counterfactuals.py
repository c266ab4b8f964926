"""
What would have to change
=========================

The smallest edits that change the class of a graph, found exactly and checked by the model itself.
"""

import matplotlib.pyplot as plt

import propkernels as pk

# %%
# In class 1, N and O are bonded; in class 0 one atom lies between them.
data = pk.datasets.make_molecules(150, random_state=0, mean_nodes=14)
kernel = pk.PropagationKernel(propagation=pk.Diffusion(0.5, "none"), t_max=2)
model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs[:120], data.target[:120])

test, target = data.graphs[120:], data.target[120:]
decisions = model.decision_function(test)
correct = [i for i in range(len(test)) if decisions[i] > 0 and target[i] == 1]
chosen = min(correct, key=lambda i: decisions[i])  # the one that is nearest to the boundary
changes = model.counterfactuals(test[chosen], n=5)
print(changes)

# %%
# The graph and the first of its neighbors on the other side, on one scale.
shown = [test[chosen], changes.graph(0)]
explanation = model.explain(shown)
limit = abs(explanation.node_totals).max()
fig, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
titles = ["the graph", ", ".join(map(str, changes.edits[0]))]
for i, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    pk.plotting.plot_explanation(explanation, graph=i, limit=limit, ax=ax)
    ax.set_title(f"{title}\ndecision {explanation.decisions[i]:+.2f}", fontsize=10)
plt.show()
