"""
A knowledge graph: types of its entities
========================================

Facts name people, companies and towns, and the types of some of them are unknown. The triples are one graph;
no neighborhoods are cut out of it. Relations are counted in both directions, and their labels enter the codes
of neighborhoods.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)
people, companies, towns = (
    [f"{kind}{i}" for i in range(n)] for kind, n in (("P", 120), ("C", 30), ("T", 15))
)
facts = [(person, "works for", rng.choice(companies)) for person in people]
facts += [(person, "lives in", rng.choice(towns)) for person in people if rng.random() < 0.7]
facts += [(company, "is based in", rng.choice(towns)) for company in companies]
facts += [(rng.choice(people), "knows", rng.choice(people)) for _ in range(150)]
facts = [fact for fact in facts if rng.random() < 0.8]  # not everything is known

network = nx.MultiDiGraph()
network.add_edges_from((head, tail, {"label": relation}) for head, relation, tail in dict.fromkeys(facts))
graph = pk.from_networkx([network])
entities = list(network)
types = np.array([{"P": "person", "C": "company", "T": "town"}[name[0]] for name in entities])
print(graph)

# %%
# Twelve entities of each type are known.

y = np.full(len(entities), None, dtype=object)
for kind in np.unique(types):
    members = np.flatnonzero(types == kind)
    y[rng.permutation(members)[: min(12, len(members) - 3)]] = kind
unknown = np.flatnonzero([value is None for value in y])
model = pk.NodeClassifier(random_state=0).fit(graph, y)
right = model.predict()[unknown] == types[unknown]
print("seen:", "; ".join(model.views_))
print(f"{right.mean():.1%} of {len(unknown)} unknown entities are typed right")

# %%
# Which relations are evidence for a company?

company = int(unknown[types[unknown] == "company"][0])
explanation = model.explain([company], classes="company")
columns = dict(list(explanation.by_column(0).items())[:8])
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.barh(list(columns)[::-1], list(columns.values())[::-1])
ax.set_xlabel(f"adds to the decision that {entities[company]} is a company")
plt.show()
