"""
Point clouds: sphere, box or ring
=================================

Points on a surface become a graph of nearest neighbors; each node knows how strongly the surface bends
around it.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)


def cloud(kind, n=200):
    """Return points on the surface of a sphere, a box or a ring, with a little noise."""
    if kind == "ring":
        a, b = rng.uniform(0, 2 * np.pi, (2, n))
        points = np.column_stack(
            [(1 + 0.35 * np.cos(b)) * np.cos(a), (1 + 0.35 * np.cos(b)) * np.sin(a), 0.35 * np.sin(b)]
        )
    else:
        points = rng.normal(size=(n, 3))
        size = np.linalg.norm(points, axis=1) if kind == "sphere" else np.abs(points).max(axis=1)
        points = points / size[:, None]
    return points + rng.normal(scale=0.01, size=(n, 3))


kinds = np.array(["sphere", "box", "ring"] * 20)
clouds = [cloud(kind) for kind in kinds]
graphs = pk.from_points(clouds, k=6)
print(graphs)

# %%
# How well does the arrangement of bends tell the kind?
kernel = pk.PropagationKernel(labels="degree", attributes="sum", t_max=3, normalize=True)
result = pk.evaluate(graphs, kinds, kernel, cv=5, random_state=0)
print(f"accuracy {result.mean:.2f}")

# %%
fig = plt.figure(figsize=(10, 3.8), layout="constrained")
for i, kind in enumerate(("sphere", "box", "ring")):
    ax = fig.add_subplot(1, 3, i + 1, projection="3d")
    bend = graphs[i].node_attributes[:, 0]
    ax.scatter(*clouds[i].T, c=bend, cmap="viridis", s=14, vmin=0, vmax=np.quantile(bend, 0.95))
    ax.set_title(kind)
    ax.set_axis_off()
    ax.set_aspect("equal")
fig.suptitle(f"points colored by curvature; accuracy in cross-validation {result.mean:.0%}")
plt.show()
