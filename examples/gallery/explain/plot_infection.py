"""
Who infected whom
=================

Visitors of an exhibition meet. In half of the evenings something spreads from person to person; in the other
half as many people fall ill, but at times that have nothing to do with whom they met. Without time the
evenings look alike. With time the model distinguishes them, and says which contact mattered.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import propkernels as pk

rng = np.random.default_rng(0)


def evening(number, spreads, n_people=12, n_contacts=40):
    """Return the contacts of one evening, and who was ill from when on."""
    pairs = [rng.choice(n_people, 2, replace=False) for _ in range(n_contacts)]
    ill = {0: 0}
    for time, (a, b) in enumerate(pairs, start=1):
        if (a in ill) != (b in ill):
            ill[b if a in ill else a] = time
    if not spreads:
        ill = dict(zip(ill, rng.permutation(n_contacts)[: len(ill)], strict=True))
    met = [(number, f"visitor {a}", f"visitor {b}", time) for time, (a, b) in enumerate(pairs, start=1)]
    states = [(number, f"visitor {i}", 0, "well") for i in range(n_people) if ill.get(i) != 0]
    return met, states + [(number, f"visitor {i}", time, "ill") for i, time in ill.items()]


kinds = np.array(["spreads", "random"] * 40)
evenings = [evening(number, kind == "spreads") for number, kind in enumerate(kinds)]
contacts = pd.DataFrame(
    [row for met, _ in evenings for row in met], columns=["graph", "source", "target", "time"]
)
states = pd.DataFrame([row for _, ill in evenings for row in ill], columns=["graph", "node", "time", "label"])
graphs = pk.from_contacts(contacts, node_labels=states)
print(graphs)

# %%
# The same kernel without time, and with information that moves forwards in time only:
for time in ("static", "forward"):
    kernel = pk.WeisfeilerLehman(t_max=3, base_kernel="intersection", time=time)
    found = pk.evaluate(graphs, kinds, kernel, cv=5, random_state=0)
    print(f"{time:>8}: {100 * found.mean:.1f} % correct")

# %%
# Time runs from left to right, one line per visitor. Red contacts are evidence for "spreads", blue ones
# against it.
kernel = pk.WeisfeilerLehman(t_max=3, base_kernel="intersection", time="forward")
model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(graphs[:60], kinds[:60])
explanation = model.explain(graphs[60:61], classes=("spreads", "random"))
pk.plotting.plot_contacts(explanation)
plt.show()

# %%
# The five contacts that mattered most, as a table:
for contact in explanation.contacts()[:5]:
    who = f"{contact['source']} and {contact['target']}"
    print(f"at {contact['time']:>2.0f}: {who:<26}{contact['contribution']:+.3f}")
