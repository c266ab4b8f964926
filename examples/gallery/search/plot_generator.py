"""
A generator against its data
============================

How well do generated graphs reproduce the training graphs? Two "generators" here: one returns held-out
graphs of the same origin, which is the best possible, and one keeps the atoms and draws the bonds anew.
"""

import matplotlib.pyplot as plt
import networkx as nx

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
good, bad = (pk.two_sample_test(train, own, kernel=kernel) for own in (held_out, made))

# %%
# Held-out graphs cannot be told from the training graphs, and none of them is a copy.
print(good)
print(len(pk.unique(pk.GraphDatabase.concat([train, held_out]))), "different graphs of", len(graphs))

# %%
# Redrawn bonds: neighborhoods that the generator invents, and others that it never makes.
print(bad)

# %%
# The statistic among those of random exchanges of graphs.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for found, title, ax in zip((good, bad), ("held-out graphs", "redrawn bonds"), axes, strict=True):
    pk.plotting.plot_two_sample_test(found, ax=ax)
    ax.set_title(title)
plt.show()
