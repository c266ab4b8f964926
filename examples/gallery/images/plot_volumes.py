"""
Volumes: coarse or fine pores
=============================

The same kernels work in three dimensions, for scans of porous rock, say: cells are nodes, and the six
nearest are neighbors.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import propkernels as pk

rng = np.random.default_rng(0)


def rock(width, size=20):
    """Return a volume of zeros (solid) and ones (pore), half of each."""
    smooth = gaussian_filter(rng.normal(size=(size,) * 3), width, mode="wrap")
    return (smooth > np.median(smooth)).astype(int)


kinds = np.array(["fine", "coarse"] * 25)
volumes = [rock(0.9 if kind == "fine" else 1.2) for kind in kinds]
grids = pk.GridDatabase(volumes)
print(grids)

# %%
# The share of pores is the same in both; how they are arranged is not.
kernel = pk.PropagationKernel(t_max=4, bin_width=0.05, normalize=True)
for name, steps in {"arrangement": 4, "shares only": 0}.items():
    result = pk.evaluate(grids, kinds, kernel.set_params(t_max=steps), cv=5, random_state=0)
    print(f"{name:12} {result.mean:.2f}")

# %%
fig = plt.figure(figsize=(9, 4.2), layout="constrained")
for i, kind in enumerate(("fine", "coarse")):
    ax = fig.add_subplot(1, 2, i + 1, projection="3d")
    ax.voxels(volumes[i][:12, :12, :12], facecolors="tab:blue", edgecolor="0.9", linewidth=0.1)
    ax.set_title(f"{kind} pores")
    ax.set_axis_off()
plt.show()
