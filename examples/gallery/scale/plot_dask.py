"""
Features and a model on a Dask cluster
======================================

Hashed features need no vocabulary, so parts of a database can be computed anywhere. Here two workers on this
machine write them; with the address of a scheduler the same calls run on a cluster. The result is the same
to the bit.
"""

import tempfile

import matplotlib.pyplot as plt
from distributed import Client, LocalCluster
from sklearn.linear_model import LogisticRegression

import propkernels as pk

folder = tempfile.mkdtemp()
data = pk.datasets.make_molecules(2000, random_state=0)
data.graphs.to_parquet(f"{folder}/graphs.parquet", target=data.target, row_group_size=100)

# %%
# A plan cuts the file into parts; each part becomes one file of features, complete or not there.
plan = pk.scale.partition(f"{folder}/graphs.parquet", nodes_per_part=5_000)
features = pk.PropagationFeatures(n_features=2**14, t_max=3, normalize=True, random_state=0)
print(plan)

# %%
# Two workers, here as threads of this process so that the example is quick; ``processes=True`` is usual.
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
with cluster, Client(cluster) as client:
    opened = pk.featurize(plan, features, f"{folder}/features", executor=client)
print(opened)

# %%
# The same without a cluster, from memory.
X = opened.to_scipy()
print("features equal:", (features.fit_transform(data.graphs) != X).nnz == 0)

# %%
# Linear models of scikit-learn learn from rows of features; what a node adds to a decision is looked up.
model = LogisticRegression(C=10.0, max_iter=1000).fit(X, opened.target)
explanation = pk.explain.explain_columns(features, model.coef_, data.graphs[:1], model.intercept_)
print(explanation.table(n=3))

# %%
sizes = [block.features.shape[0] for block in opened]
decisions = model.decision_function(X)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.bar(range(len(sizes)), sizes, color="tab:blue")
left.set(xlabel="part", ylabel="graphs", title="each part is one file")
for label, color in ((0, "tab:blue"), (1, "tab:red")):
    right.hist(decisions[data.target == label], 30, alpha=0.6, color=color, label=f"class {label}")
right.set(xlabel="decision", title="a model of all parts")
right.legend()
plt.show()
