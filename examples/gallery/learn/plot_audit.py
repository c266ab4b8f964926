"""
Audit a data set before you trust an accuracy
=============================================

Graphs that occur twice, targets that contradict each other, leaks and simple shortcuts make accuracies that
do not hold. The audit looks for all of them; here some were planted.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

# %%
# 100 graphs, of which 15 occur twice, 5 of these with the other class.
data = pk.datasets.make_molecules(100, random_state=0)
twice = np.arange(15)
graphs = pk.GraphDatabase.concat([data.graphs, data.graphs[twice]])
copied = data.target[twice].copy()
copied[:5] = 1 - copied[:5]
target = np.concatenate([data.target, copied])

report = pk.audit(graphs, target, random_state=0)
print(report)

# %%
# ``report.save("report.html")`` writes the page behind the sentences; every number is in the report by name.
groups = report.sameness.duplicates.groups
conflicting = [group for group in groups if len(set(target[list(group)])) > 1]
print(len(groups), "groups of duplicates,", len(conflicting), "of them with different classes")

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
first, second = min(conflicting, key=lambda group: graphs.graph_sizes[group[0]])  # the smallest graph
for ax, i in zip(axes, (first, second), strict=True):
    pk.plotting.plot_graph(graphs, i, ax=ax, legend=False)
    ax.set_title(f"graph {i}: class {target[i]}")
fig.suptitle("the same graph, twice, with different classes")
plt.show()
