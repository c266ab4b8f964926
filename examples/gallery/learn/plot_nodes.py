"""
One graph: predict its nodes from a few of them
===============================================

A karate club split in two. Six members say which side they took; the graph tells the side of the others,
and what each neighbor adds to that.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import propkernels as pk

club = nx.karate_club_graph()
sides = np.array([club.nodes[i]["club"] for i in club])
known = [0, 1, 3, 29, 32, 33]
y = np.full(34, None, dtype=object)
y[known] = sides[known]
graph = pk.check_graphs([nx.to_scipy_sparse_array(club, weight=None)])

model = pk.NodeClassifier(random_state=0).fit(graph, y)
print("seen:", "; ".join(model.views_))
print("members on the right side:", int(np.sum(model.predict() == sides)), "of", len(sides))

# %%
# Member 8 stood between the two. What spoke for either side?

explanation = model.explain([8])
print(explanation)
print(explanation.table(0, 6))

# %%
# The contributions of all members, on the graph: light ones are evidence for the officers, dark ones for
# Mr. Hi.

fig, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
places = np.array(list(nx.spring_layout(club, seed=4).values()))
options = {"layout": places, "legend": False}
pk.plotting.plot_graph(graph, 0, color=model.decision_function(), ax=axes[0], **options)
axes[0].set_title("decisions")
pk.plotting.plot_graph(graph, 0, color=explanation.neighbor_totals(0), ax=axes[1], **options)
axes[1].set_title("what members add to the decision about member 8")
plt.show()
