"""
Numbers at the nodes, and where they sit
========================================

Sensors in a field measure something smooth; in the other class the same numbers sit at the wrong
sensors. Hashing each number where it is cannot see the difference. Diffusing the numbers along the edges
can.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)


def field(kind, n=60):
    """Return places of sensors, their graph, and what they measure."""
    places = rng.uniform(size=(n, 2))
    values = np.sin(4 * places[:, 0] + rng.uniform(0, 6)) + np.cos(4 * places[:, 1])
    return places, pk.convert.knn_graph(places, 4), values if kind == "smooth" else rng.permutation(values)


kinds = np.array(["smooth", "shuffled"] * 40)
fields = [field(kind) for kind in kinds]
graphs = pk.check_graphs([(graph, None, values[:, None]) for _, graph, values in fields])
print(graphs)

# %%
settings = {"labels": None, "t_max": 3, "n_hashes": 4, "normalize": True}
treatments = {
    '"sum"': pk.PropagationKernel(attributes="sum", **settings),
    "propagated": pk.PropagationKernel(attributes=pk.propagation.PropagatedAttributes(), **settings),
    "P2K": pk.P2K(**settings),
}
results = {
    name: pk.evaluate(graphs, kinds, kernel, cv=5, random_state=0) for name, kernel in treatments.items()
}
for name, result in results.items():
    print(f"{name:22} {result.mean:.3f}")

# %%
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for i, ax in enumerate(axes[:2]):
    pk.plotting.plot_graph(graphs, i, color="attribute", layout=fields[i][0], legend=False, ax=ax)
    ax.set_title(kinds[i])
pk.plotting.plot_evaluation(results, ax=axes[2])
plt.show()
