"""
Why two graphs are similar
==========================

The kernel value of two graphs is a sum over shared bins. ``similar_because`` lists them with the nodes
on both sides, and the parts of the two graphs that correspond can be drawn.
"""

import matplotlib.pyplot as plt

import propkernels as pk

names = ["aspirin", "salicylic acid"]
graphs = pk.from_smiles(["CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"], ids=names)
kernel = pk.WeisfeilerLehman(t_max=3, normalize=True)
why = pk.similar_because(kernel, graphs[0], graphs[1])
print(why)

# %%
# Atoms whose surroundings up to two bonds away are the same in both.
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
pk.plotting.plot_similarity(why, graphs[0], graphs[1], t=2, ax=axes)
for ax, name in zip(axes, names, strict=True):
    ax.set_title(name)
fig.suptitle(f"normalized kernel {why.value:.2f}")
plt.show()
