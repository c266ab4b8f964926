"""Small labeled graphs, kernels and fitted models that tests of counterfactuals share."""

import networkx as nx
import numpy as np

import propkernels as pk
from propkernels.propagation import Diffusion

KERNELS = {
    "fast": pk.PropagationKernel(propagation=Diffusion(0.5, "none"), t_max=2, random_state=0),
    "assigned": pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
    "slow": pk.SumKernel([pk.WeisfeilerLehman(t_max=1), pk.ShortestPath()]),
    "pairwise": pk.PropagationKernel(t_max=1, base_kernel="rbf", random_state=0),
}


def small_graphs(n, seed):
    """Graphs of four to six nodes whose class says whether a leaf is an O."""
    rng, graphs, target = np.random.default_rng(seed), [], []
    while len(graphs) < n:
        graph = nx.gnp_random_graph(int(rng.integers(4, 7)), 0.45, seed=int(rng.integers(1000)))
        if nx.is_connected(graph):
            for v in graph:
                graph.nodes[v]["label"] = "CNO"[rng.integers(3)]
            graphs.append(graph)
            target.append(int(any(graph.degree(v) == 1 and graph.nodes[v]["label"] == "O" for v in graph)))
    return pk.from_networkx(graphs), np.array(target)


def fitted(kernel, data):
    steps = {"t_max": 2} if "t_max" in kernel.get_params() else {}
    return pk.PropagationClassifier(kernel=kernel, C=10.0, normalize=False, random_state=0, **steps).fit(
        *data
    )
