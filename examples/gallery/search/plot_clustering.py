"""
Groups of graphs, and a map
===========================

A kernel matrix is all that clustering and embedding need. Three families of unlabeled graphs, of various
sizes and each disturbed by one extra edge, fall into three groups.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

import propkernels as pk

rng = np.random.default_rng(0)


def ring(n):
    """Return a ring."""
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def prism(n):
    """Return two rings, joined node by node."""
    return np.block([[ring(n), np.eye(n)], [np.eye(n), ring(n)]])


def sun(n):
    """Return a ring with a ray at each node."""
    return np.block([[ring(n), np.eye(n)], [np.eye(n), np.zeros((n, n))]])


def disturbed(adjacency):
    """Return a graph with one more edge."""
    i, j = rng.choice(len(adjacency), 2, replace=False)
    adjacency[i, j] = adjacency[j, i] = 1
    return adjacency


kind = np.arange(90) % 3
names = ["ring", "prism", "sun"]
graphs = [disturbed((ring, prism, sun)[i](n)) for i, n in zip(kind, rng.integers(8, 17, 90), strict=True)]

# %%
# Similarity, groups, and how well they agree with the families (1 is perfect).
K = pk.PropagationKernel(t_max=3, normalize=True, random_state=0).fit_transform(graphs)
groups = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(K)
print("agreement", adjusted_rand_score(kind, groups))

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
pk.plotting.plot_kernel(K, groups, ax=left)
left.set_title("the kernel matrix, ordered by group")
pk.plotting.plot_embedding(K, kind, target_names=names, ax=right)
right.set_title("kernel PCA, colored by family")
plt.show()
