"""
Kinds of edges
==============

Two friends or two rivals? With ``edge_labels=True``, what crosses an edge depends on its label.
Here two classes of small networks differ in nothing but which ties are which.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)


def network(kind):
    """Return a network of two camps: friends inside and rivals across, or at random."""
    graph = nx.gnp_random_graph(12, 0.4, seed=int(rng.integers(1 << 30)))
    for u, v in graph.edges:
        inside = (u < 6) == (v < 6)
        graph[u][v]["label"] = ("friend" if inside else "rival") if kind else rng.choice(["friend", "rival"])
    nx.set_node_attributes(graph, {node: "left" if node < 6 else "right" for node in graph}, "label")
    return graph


target = np.array(["mixed", "camps"] * 30)
graphs = pk.from_networkx(
    [network(kind == "camps") for kind in target], node_label="label", edge_label="label"
)
print(graphs)

# %%
results = {}
for name, labels in (("without edge labels", False), ("with edge labels", True)):
    kernel = pk.PropagationKernel(t_max=2, bin_width=0.1, n_hashes=4, edge_labels=labels, normalize=True)
    results[name] = pk.evaluate(graphs, target, kernel, cv=5, random_state=0)
    print(f"{name:20} {results[name].mean:.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
pk.plotting.plot_graph(graphs, 1, layout="spring", ax=left)
left.set_title("two camps")
pk.plotting.plot_evaluation(results, ax=right)
plt.show()
