"""
This year's molecules against last year's
=========================================

A library of molecules grows: do the new ones come from the same chemistry? :func:`propkernels.compare` tests
it and names the surroundings that have changed; :class:`propkernels.DriftDetector` watches month by month,
with a bound on false alarms.
"""

import matplotlib.pyplot as plt
import numpy as np

import propkernels as pk

rng = np.random.default_rng(0)
data = pk.datasets.make_molecules(900, random_state=0)
places = [rng.permutation(np.flatnonzero(data.target == c)) for c in (0, 1)]


def month(share, n=40):
    """Return a month's molecules, a share of them of the second kind."""
    n_second = round(share * n)
    chosen = np.concatenate([rng.choice(places[0], n - n_second), rng.choice(places[1], n_second)])
    return data.graphs[chosen]


last_year = [month(0.2) for _ in range(12)]
this_year = [month(0.2) for _ in range(5)] + [month(0.9) for _ in range(7)]
A, B = (pk.GraphDatabase.concat(year) for year in (last_year, this_year))
kernel = pk.WeisfeilerLehman(t_max=2, normalize=True)
result = pk.compare(A, B, kernel=kernel, n_permutations=499)
print(result)

# %%
# In a notebook, the surroundings are drawn in graphs that have them.
result

# %%
# Month by month: the change in June raises an alarm a month later.
detector = pk.DriftDetector(kernel=kernel, n_permutations=1999).fit(A)
windows = [detector.update(graphs) for graphs in this_year]
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
months = np.arange(1, 13)
ax.semilogy(months, detector.p_values_, "o-", label="p-value of the month")
ax.semilogy(
    months[detector.alarms_], detector.p_values_[detector.alarms_], "s", color="tab:red", label="alarm"
)
ax.set(xlabel="month", ylabel="p-value", xticks=months)
ax.legend(frameon=False)
plt.show()
