"""
Compare kernels, with significance
==================================

Two kernels differ by some points in cross-validation. Does it mean anything? Training parts overlap, so
the folds are not independent, and a plain t-test finds differences too easily. ``compare`` also gives
the corrected test.
"""

import matplotlib.pyplot as plt

import propkernels as pk

data = pk.datasets.make_molecules(150, random_state=0)
print(data.description)

# %%
# All kernels see the same folds; t_max and C are chosen on the training part of each.
kernels = {
    "labels": pk.kernels.LabelHistogram(normalize=True),
    "walk": pk.PropagationKernel(t_max=3, normalize=True),
    "summed neighbors": pk.PropagationKernel(
        propagation=pk.propagation.Diffusion(0.5, "none"), t_max=3, normalize=True
    ),
    "Weisfeiler-Lehman": pk.WeisfeilerLehman(t_max=3, normalize=True),
    "shortest paths": pk.ShortestPath(normalize=True),
}
results = {
    name: pk.evaluate(data, model=kernel, cv=5, n_repeats=2, random_state=0)
    for name, kernel in kernels.items()
}

# %%
# The best, compared with each of the others.
best = max(results, key=lambda name: results[name].mean)
for name, result in results.items():
    if name != best:
        test = results[best].compare(result)
        values = f"plain p {test.p:.3f}   corrected p {test.corrected_p:.3f}"
        print(f"{best} - {name:17} {test.difference:+.3f}   {values}")

# %%
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
pk.plotting.plot_evaluation(results, ax=ax)
plt.show()
