"""
Error bars from a Gaussian process
==================================

``solver="gp"`` predicts a number and how sure it is. Graphs unlike the training graphs get wide
bars.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

# %%
# The target is a known property of the graphs, the number of bonds between N and O, plus noise.
data = pk.datasets.make_molecules(150, random_state=0)


def bonds(graph, first="N", second="O"):
    """Return how many edges join two labels."""
    rows, columns = graph.adjacency.nonzero()
    labels = np.asarray(graph.node_labels)
    return int(np.sum((labels[rows] == first) & (labels[columns] == second)))


rng = np.random.default_rng(0)
target = np.array([bonds(graph) for graph in data.graphs]) + rng.normal(scale=0.2, size=len(data.graphs))

# %%
# Learn from small graphs only, and predict small and large ones.
sizes = data.graphs.graph_sizes
small = np.flatnonzero(sizes <= 25)
train, near = small[:60], small[60:]
far = np.flatnonzero(sizes > 32)
model = pk.PropagationRegressor(
    kernel=pk.PropagationKernel(propagation=pk.propagation.Diffusion(0.5, "none")),
    solver="gp",
    t_max=[1, 2],
    random_state=0,
).fit(data.graphs[train], target[train])
predicted = {
    name: model.predict(data.graphs[which], return_std=True)
    for name, which in [("small", near), ("large", far)]
}
for name, (_, std) in predicted.items():
    print(f"{name} graphs: mean standard deviation {std.mean():.2f}")

# %%
fig, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
for (name, (mean, std)), which, color in zip(
    predicted.items(), (near, far), ("tab:blue", "tab:orange"), strict=True
):
    ax.errorbar(target[which], mean, 2 * std, fmt="o", color=color, alpha=0.6, label=f"{name} graphs")
span = [target.min(), target.max()]
ax.plot(span, span, color="0.5", linestyle="--", linewidth=1)
ax.set(xlabel="target", ylabel="prediction, two standard deviations")
ax.legend()
plt.show()
