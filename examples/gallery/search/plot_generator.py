"""
A generator against its data
============================

How well do generated graphs reproduce the training graphs? Two "generators" here: one returns held-out
graphs of the same origin, which is the best possible, and one keeps the atoms and draws the bonds anew.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import propkernels as pk

graphs = pk.datasets.make_molecules(300, random_state=0).graphs
train, held_out = graphs[:150], graphs[150:]


def redrawn(graph, seed):
    """Return a graph with the same atoms and as many bonds, between other pairs."""
    given = nx.Graph(graph.to_networkx())
    made = nx.gnm_random_graph(len(given), given.number_of_edges(), seed=seed)
    labels = [label for _, label in given.nodes(data="label")]
    nx.set_node_attributes(made, dict(enumerate(labels)), "label")
    return made


made = pk.from_networkx([redrawn(graph, i) for i, graph in enumerate(held_out)])
kernel = pk.WeisfeilerLehman(t_max=3, normalize=True)
good, bad = (pk.judge(train, own, kernel=kernel) for own in (held_out, made))

# %%
# Held-out graphs: a classifier cannot tell them from the training graphs, and nothing is copied.
print(good)

# %%
# Redrawn bonds: atoms are right (t = 0), surroundings are not.
print(bad)

# %%
# What the generator invented, and what it never makes.
for one in bad.invented(3):
    print(f"invented: t = {one.t}, in {100 * one.share_b:.0f} % of generated graphs, graph {one.graph}")
for one in bad.missing(3):
    print(f"missing: t = {one.t}, in {100 * one.share_a:.0f} % of training graphs, graph {one.graph}")

# %%
# MMD by radius, with 95 % intervals.
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for found, name in ((good, "held-out graphs"), (bad, "redrawn bonds")):
    values, low, high = np.array(found.mmd).T
    ax.errorbar(range(len(values)), values, [values - low, high - values], marker="o", capsize=4, label=name)
ax.set(xlabel="radius t", ylabel="MMD$^2$", xticks=range(4))
ax.legend(frameon=False)
plt.show()
