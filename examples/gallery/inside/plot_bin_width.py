"""
Nearly equal counts as equal
============================

The width of the bins decides how different two nodes may be and still count as alike. Here labels are
guesses of another classifier, so no two nodes are exactly equal: narrow bins leave hardly any similarity
(enough for an SVM on these easy graphs), wide ones forgive the noise, and very wide ones forget the
difference.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)


def guessed(kind, n=12):
    """Return a ring whose nodes are a or b, in blocks or alternating, each with a noisy probability."""
    ring = np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)
    certain = np.arange(n) < n // 2 if kind else np.arange(n) % 2 == 0
    share = np.clip(np.where(certain, 0.85, 0.15) + rng.normal(scale=0.08, size=n), 0, 1)
    return ring, pk.LabelDistributions(np.column_stack([share, 1 - share]), values=["a", "b"])


target = np.arange(60) % 2
graphs = pk.check_graphs([guessed(kind) for kind in target])

# %%
widths = np.logspace(-4, 3, 15)
accuracy, similar = [], []
for width in widths:
    kernel = pk.PropagationKernel(
        propagation=pk.propagation.Diffusion(0.5),
        t_max=2,
        bin_width=width,
        n_hashes=4,
        normalize=True,
        random_state=0,
    )
    result = pk.evaluate(graphs, target, kernel, cv=4, random_state=0)
    accuracy.append(result.mean)
    K = kernel.fit_transform(graphs)
    similar.append(K[np.triu_indices(len(K), 1)].mean())

fig, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
ax.semilogx(widths, accuracy, marker="o", label="accuracy in cross-validation")
ax.semilogx(widths, similar, marker="s", color="0.5", label="mean similarity of two graphs")
ax.set(xlabel="bin_width", ylim=(-0.02, 1.05))
ax.legend()
plt.show()
