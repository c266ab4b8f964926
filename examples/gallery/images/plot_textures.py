"""
Textures, seen from any side
============================

Brick, grass and gravel from scikit-image, in three gray levels. The kernel counts arrangements of levels
in round neighborhoods, so a texture that is turned by 90 degrees has exactly the same features.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import propkernels as pk
from propkernels.images import GrayLevels

names = ["brick", "grass", "gravel"]
rng = np.random.default_rng(0)
patches, target = [], []
for name in names:
    photo = getattr(data, name)()
    for row, column in rng.integers(0, 512 - 48, (30, 2)):
        patches.append(photo[row : row + 48, column : column + 48])
        target.append(name)
target = np.array(target)

# %%
# Equally frequent levels make brightness useless: only the arrangement is left.
grids = GrayLevels(n_levels=3, scale="equalize").fit_transform(patches)
scheme = pk.propagation.Convolution((1, 8))
kernel = pk.PropagationKernel(propagation=scheme, t_max=4, normalize=True, random_state=0)
for name, steps in {"arrangement": 4, "levels only": 0}.items():
    result = pk.evaluate(grids, target, kernel.set_params(t_max=steps), cv=5, random_state=0)
    print(f"{name:12} {result.mean:.2f}")

turned = GrayLevels(n_levels=3, scale="equalize").fit_transform([np.rot90(patch) for patch in patches])
K = kernel.fit(grids).transform(grids)
print("turned by 90 degrees, the same kernel to the bit:", (kernel.transform(turned) == K).all())

# %%
fig = plt.figure(figsize=(10, 4.2), layout="constrained")
left, right = fig.subfigures(1, 2, width_ratios=(1, 1.2))
for row, (axes, name) in enumerate(zip(left.subplots(3, 3), names, strict=True)):
    for ax, patch in zip(axes, patches[30 * row : 30 * row + 3], strict=True):
        ax.imshow(patch, cmap="gray")
        ax.axis("off")
    axes[1].set_title(name, fontsize=9)
pk.plotting.plot_embedding(K, target, ax=right.subplots())
plt.show()
