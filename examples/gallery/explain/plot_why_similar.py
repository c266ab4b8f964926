"""
Why two graphs are similar
==========================

The similarity of two graphs is a sum over shared neighborhoods. ``similar_because`` lists them with the
nodes on both sides, and the parts of the two graphs that correspond can be drawn.
"""

import matplotlib.pyplot as plt

import propkernels as pk

names = ["aspirin", "salicylic acid"]
graphs = pk.from_smiles(["CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"], ids=names, node_labels="symbol")
why = pk.similar_because(graphs[0], graphs[1])
print(why)

# %%
# Atoms whose neighborhoods up to two bonds away are the same in both.
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
why.plot(t=2, ax=axes)
for ax, name in zip(axes, names, strict=True):
    ax.set_title(name)
fig.suptitle(f"similarity {why.value:.2f}")
plt.show()
