"""
Handwritten digits as grids
===========================

An image is a graph of pixels whose edges are never stored: a step of propagation is a convolution.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import propkernels as pk

digits = load_digits()
chosen = np.flatnonzero(np.isin(digits.target, [1, 3, 8]))[:300]
target = digits.target[chosen]
images = (digits.images[chosen] // 6).astype(int)  # three gray levels as labels
grids = pk.GridDatabase(list(images))
print(grids)

# %%
# Learn from two thirds, and see which pixels decide between 3 and 8.
kernel = pk.PropagationKernel(propagation=pk.propagation.Convolution((1, 8)), t_max=4)
model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(grids[:200], target[:200])
print("accuracy on the others:", model.score(grids[200:], target[200:]))

# %%
test = grids[200:]
explanation = model.explain(test, (8, 3))
limit = np.abs(explanation.node_totals).max()
rows, columns = np.indices((8, 8))
fig, axes = plt.subplots(2, 4, figsize=(9, 4.8), layout="constrained")
for row, digit in zip(axes, (3, 8), strict=True):
    for ax, i in zip(row, np.flatnonzero(target[200:] == digit), strict=False):
        ax.imshow(digits.images[chosen[200 + i]], cmap="gray_r")
        values = explanation.image(i)
        shown = ax.scatter(
            columns,
            rows,
            s=170 * np.abs(values) / limit,
            c=values,
            cmap="RdBu_r",
            vmin=-limit,
            vmax=limit,
            marker="s",
            edgecolors="white",
            linewidths=0.5,
        )
        ax.set_title(f"a {digit}, predicted {model.predict(test[[i]])[0]}", fontsize=9)
        ax.axis("off")
fig.colorbar(shown, ax=axes, label="evidence for 3  ←  →  evidence for 8", shrink=0.8)
plt.show()
