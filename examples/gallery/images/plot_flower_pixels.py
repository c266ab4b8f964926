"""
Which pixels are petals
=======================

A model learns from patches whether they show petals or leaves. Explained pixel by pixel on the whole
photograph, which it has never seen as a whole, it draws the flower.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import propkernels as pk
from propkernels.images import KMeansColors

photo = load_sample_image("flower.jpg")[::2, ::2]
rng = np.random.default_rng(0)

# %%
# Patches of 16 x 16 pixels: around the middle of the flower, and at the left and right of the photograph.
corners = {
    "petals": rng.integers((50, 90), (120, 190), (40, 2)),
    "leaves": np.column_stack(
        [rng.integers(0, 190, 40), np.r_[rng.integers(0, 25, 20), rng.integers(275, 300, 20)]]
    ),
}
patches = [photo[r : r + 16, c : c + 16] for place in corners.values() for r, c in place]
target = np.repeat(list(corners), 40)

# %%
# A palette of eight colors is learned from the patches; a pixel's label is its color.
palette = KMeansColors(8, random_state=0).fit(patches)
kernel = pk.PropagationKernel(propagation=pk.propagation.Convolution((1, 8)), t_max=3)
model = pk.PropagationClassifier(kernel=kernel, normalize=False, random_state=0)
model.fit(palette.transform(patches), target)
whole = palette.transform([photo])
explanation = model.explain(whole, ("petals", "leaves"))

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].imshow(photo)
for name, color in (("petals", "white"), ("leaves", "black")):
    for r, c in corners[name][:20]:
        axes[0].add_patch(plt.Rectangle((c, r), 16, 16, fill=False, edgecolor=color, linewidth=0.6))
axes[0].set_title("patches to learn from")
image = explanation.image(0)
limit = 2 * np.quantile(np.abs(image), 0.2)  # petals say less, since there are fewer of them
shown = axes[1].imshow(image, cmap="RdBu_r", vmin=-limit, vmax=limit)
axes[1].set_title("what each pixel says")
fig.colorbar(shown, ax=axes[1], label="leaves  ←  →  petals")
for ax in axes:
    ax.axis("off")
plt.show()
