"""
Two groups of brain-like networks
=================================

Networks of 40 regions with the same labels in every subject: does a group differ from another, and in which
regions? Here patients have weaker links within the frontal regions.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

LOBES = ["frontal", "parietal", "temporal", "occipital"]
lobe = np.repeat(np.arange(4), 10)


def subject(rng, within_frontal):
    """Return the network of one subject: links are more likely within a lobe."""
    likely = np.where(lobe[:, None] == lobe, 0.5, 0.08)
    likely[np.ix_(lobe == 0, lobe == 0)] = within_frontal
    links = np.triu(rng.random((40, 40)) < likely, 1)
    return links + links.T


rng = np.random.default_rng(0)
controls = [(subject(rng, 0.5), [LOBES[i] for i in lobe]) for _ in range(40)]
patients = [(subject(rng, 0.3), [LOBES[i] for i in lobe]) for _ in range(40)]

# %%
# A region is described by the lobes among its links, and by those of the regions linked to it; a coarse bin
# width joins regions that differ a little.
kernel = pk.PropagationKernel(t_max=2, bin_width=0.05, normalize=True, random_state=0)
result = pk.two_sample_test(controls, patients, kernel=kernel, n_permutations=499)
print(result)

# %%
# Which lobe do the differences come from? Contributions of direct links (t = 1), added up by lobe.
by_lobe = dict.fromkeys(LOBES, 0.0)
for one in (one for one in result.witness if one.t == 1):
    for label in one.labels:
        by_lobe[label] += one.contribution / len(one.labels)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.bar(list(by_lobe), list(by_lobe.values()))
ax.set_ylabel("contribution to MMD$^2$")
plt.show()
