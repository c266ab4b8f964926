"""
Notice what is new
==================

A detector learns from normal graphs what is normal. New graphs get a p-value: how often a normal graph
would look at least as strange. For each node it says at which radius its neighborhood has never been
seen.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

# %%
# Normal are graphs like molecules. The strange ones have 40 % of their labels replaced at random.
graphs = pk.datasets.make_molecules(300, random_state=0).graphs
train, normal = graphs[:200], graphs[200:250]
rng, labels = np.random.default_rng(0), graphs[250:].node_labels
noise = rng.choice(np.unique(labels), len(labels))
strange = graphs[250:].with_labels(np.where(rng.random(len(labels)) < 0.4, noise, labels))

detector = pk.NoveltyDetector(random_state=0).fit(train)
p_normal, p_strange = detector.predict_p(normal), detector.predict_p(strange)
share = [f"{np.mean(p <= 0.05):.0%}" for p in (p_normal, p_strange)]
print(f"called new at 5 %: {share[0]} of the normal, {share[1]} of the strange")

# %%
# The strangest graph, and where it is strange: dark nodes have neighborhoods that the nearest training graph
# has not.
worst = int(p_strange.argmin())
why = detector.explain(strange)

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
bins = np.linspace(0, 1, 21)
left.hist([p_normal, p_strange], bins, label=["normal", "strange"], color=["tab:blue", "tab:red"])
left.axvline(0.05, color="0.4", linestyle="--", linewidth=1)
left.set(xlabel="p-value", ylabel="graphs")
left.legend()
pk.plotting.plot_explanation(why, graph=worst, ax=right)
plt.show()
