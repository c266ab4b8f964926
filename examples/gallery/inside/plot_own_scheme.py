"""
Write your own scheme
=====================

How labels spread is yours to choose: a scheme is a class with two methods. This one listens only to the
neighbor across the heaviest edge, and sees what an average over all neighbors blurs.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

# %%
# Graphs in which only the strongest ties carry the class: in class 1 they join an "a" to a "b".
rng = np.random.default_rng(0)


def tied(kind, n=12):
    """Return a dense weighted graph whose heavy edges form pairs of nodes."""
    labels = np.array(["a"] * (n // 2) + ["b"] * (n // 2))
    weights = np.triu(rng.uniform(0.5, 1.0, (n, n)), 1)
    pairs = np.arange(n).reshape(2, -1).T if kind else np.arange(n).reshape(-1, 2)
    weights[pairs[:, 0], pairs[:, 1]] = 2.0
    return weights + weights.T, labels


target = np.arange(60) % 2
graphs = [tied(kind) for kind in target]

# %%
# The scheme: ``prepare`` gathers what the steps need, ``step`` makes one. ``affine = True`` says that a
# step is a matrix times the distributions, so that the engine may propagate a few projections instead.


class HeaviestEdge(pk.propagation.PropagationScheme):
    """Each node goes half of the way to its neighbor across the heaviest edge."""

    affine = True

    def prepare(self, graphs, initial):
        adjacency = graphs.adjacency.copy()
        for node in range(graphs.n_nodes):
            edges = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
            heaviest = adjacency.data[edges] == adjacency.data[edges].max(initial=0)
            adjacency.data[edges] = heaviest / max(heaviest.sum(), 1)
        return adjacency

    def step(self, prepared, current, initial):
        return (current + prepared @ current) / 2


pk.propagation.check_scheme(HeaviestEdge())  # says what a scheme violates, if it does

# %%
# The same kernel with two ways to spread.
schemes = {"random walk": pk.propagation.Diffusion(laziness=0.5), "heaviest edge": HeaviestEdge()}
results = {}
for name, scheme in schemes.items():
    kernel = pk.PropagationKernel(propagation=scheme, t_max=1, bin_width=0.1, normalize=True)
    results[name] = pk.evaluate(graphs, target, kernel, cv=5, random_state=0)
    print(f"{name:15} {results[name].mean:.2f}")

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, scheme) in zip(axes, schemes.items(), strict=True):
    K = pk.PropagationKernel(
        propagation=scheme, t_max=1, bin_width=0.1, normalize=True, random_state=0
    ).fit_transform(graphs)
    pk.plotting.plot_kernel(K, target, target_names=["apart", "tied"], ax=ax)
    ax.set_title(f"{name}: accuracy {results[name].mean:.0%}")
plt.show()
