"""
Scenes with missing labels
==========================

Photographs become graphs of regions, labeled by color. Then labels are removed at random. Label
propagation fills the gaps while the kernel is computed; Weisfeiler-Lehman takes a gap for one more
label, or gets the graphs after a ``LabelImputer`` has filled them.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.segmentation import slic
from sklearn.datasets import load_sample_images

import propkernels as pk

# %%
# Tiles of the two photographs that come with scikit-learn, cut into regions of similar color.
photos = load_sample_images().images
rng = np.random.default_rng(0)
tiles, target = [], []
for photo, name in zip(photos, ("temple", "flower"), strict=True):
    for _ in range(40):
        row, column = rng.integers(0, photo.shape[0] - 96), rng.integers(0, photo.shape[1] - 96)
        tiles.append(photo[row : row + 96, column : column + 96])
        target.append(name)


def regions(tile):
    """Return the adjacency of regions, their mean colors, and the map of regions."""
    parts = slic(tile, n_segments=40, compactness=15, start_label=0)
    n = parts.max() + 1
    adjacency = np.zeros((n, n))
    for a, b in ((parts[1:], parts[:-1]), (parts[:, 1:], parts[:, :-1])):
        adjacency[a, b] = adjacency[b, a] = 1
    np.fill_diagonal(adjacency, 0)
    sizes = np.bincount(parts.ravel())
    colors = [np.bincount(parts.ravel(), tile[..., c].ravel()) / sizes for c in range(3)]
    return adjacency, np.transpose(colors), parts


def color_name(color):
    """Return a label from brightness and tint."""
    bright = "dark" if color.mean() < 85 else "mid" if color.mean() < 170 else "light"
    tint = ("red", "green", "blue")[color.argmax()] if np.ptp(color) > 25 else "gray"
    return f"{bright} {tint}"


found = [regions(tile) for tile in tiles]
graphs = pk.check_graphs([(adjacency, [color_name(c) for c in colors]) for adjacency, colors, _ in found])
print(graphs)

# %%
# Accuracy as labels disappear.
kernels = {
    "label propagation": pk.PropagationKernel(t_max=3, normalize=True),
    "Weisfeiler-Lehman": pk.WeisfeilerLehman(t_max=3, normalize=True),
    "filled, then WL": pk.WeisfeilerLehman(t_max=3, normalize=True),
}
shares = [0.0, 0.4, 0.7, 0.9]
accuracy = {name: [] for name in kernels}
order = np.random.default_rng(0).permutation(graphs.n_nodes)
for share in shares:
    labels = graphs.node_labels.astype(object)
    labels[order[: round(share * graphs.n_nodes)]] = None
    hidden = graphs.with_labels(labels)
    filled = pk.propagation.LabelImputer().fit_transform(hidden)
    for name, kernel in kernels.items():
        seen = filled if name.startswith("filled") else hidden
        result = pk.evaluate(seen, target, kernel, cv=5, random_state=0)
        accuracy[name].append(result.mean)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.imshow(tiles[0])
left.contour(found[0][2], levels=np.arange(found[0][2].max()) + 0.5, colors="white", linewidths=0.6)
left.set_title("a tile and its regions")
left.axis("off")
for name, values in accuracy.items():
    right.plot(shares, values, marker="o", label=name)
right.set(xlabel="share of labels removed", ylabel="accuracy, 5 folds", ylim=(0.6, 1.01))
right.legend()
plt.show()
