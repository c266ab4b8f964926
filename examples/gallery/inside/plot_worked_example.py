"""
The kernel by hand
==================

Two graphs, one step, and every number on the way: distributions, bins, counts, and their product.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
star = np.zeros((4, 4))
star[0, 1:] = star[1:, 0] = 1
graphs = pk.check_graphs([(path, list("abba")), (star, list("baaa"))])

# %%
# Distributions over the labels a and b: at t = 0 each node knows itself, at t = 1 its neighbors.
T = pk.propagation.transition_matrix(graphs)
P = [np.array([[label == "a", label == "b"] for label in graphs.node_labels], float)]
P.append(T @ P[0])
print(P[1])

# %%
# Nodes with (nearly) equal distributions share a bin, graphs are rows of counts, and the kernel is a dot
# product.
places = [np.array([[0, 0], [1, 1.5], [2, 0], [3, 1.5]]), np.array([[1, 0.5], [0, 0.9], [2, 0.9], [1, -0.6]])]
total = 0
fig, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
for t, row in enumerate(axes):
    values, bins = np.unique(P[t], axis=0, return_inverse=True)
    counts = np.array([np.bincount(part, minlength=len(values)) for part in np.split(bins.ravel(), 2)])
    total += counts[0] @ counts[1]
    print(f"t = {t}: counts {counts.tolist()}, contribution {counts[0] @ counts[1]}")
    for graph, ax in enumerate(row):
        pk.plotting.plot_graph(
            graphs,
            graph,
            color=P[t][4 * graph : 4 * graph + 4, 0],
            layout=places[graph],
            legend=False,
            ax=ax,
        )
        ax.set_title(f"graph {graph}, t = {t}: counts {counts[graph].tolist()}")

K = pk.PropagationKernel(t_max=1, random_state=0).fit_transform(graphs)
print("by hand", total, "- by the library", K[0, 1])
plt.show()
