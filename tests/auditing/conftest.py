"""Graphs of two classes without errors, and a report."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk

N = 60


def two_kinds(n=N, seed=3):
    """Random graphs, all different, whose classes share one label of two: no kernel errs on them."""
    random = np.random.default_rng(seed)
    target = np.arange(n) % 2
    graphs = [nx.gnp_random_graph(int(random.integers(9, 15)), 0.3, seed=i) for i in range(n)]
    for graph, kind in zip(graphs, target.tolist(), strict=True):
        labels = random.integers(2, size=len(graph)) + kind
        nx.set_node_attributes(graph, dict(enumerate(labels.tolist())), "label")
    return pk.from_networkx(graphs), target


def shuffled(graphs, seed=0):
    """The same graphs, the nodes of each in another order."""
    order = np.concatenate(
        [
            start + np.random.default_rng([seed, i]).permutation(stop - start)
            for i, (start, stop) in enumerate(zip(graphs.graph_ptr, graphs.graph_ptr[1:], strict=False))
        ]
    )
    return pk.GraphDatabase(
        graphs.adjacency[order][:, order], graphs.graph_ptr, node_labels=graphs.node_labels[order]
    )


@pytest.fixture(scope="package")
def clean():
    return two_kinds()


def joined(*databases):
    return pk.GraphDatabase.concat(databases)


@pytest.fixture(scope="package")
def report():
    data = pk.datasets.make_molecules(60, random_state=0)
    graphs = pk.GraphDatabase.concat([data.graphs, data.graphs[[7]]])
    return pk.audit(graphs, np.append(data.target, 1 - data.target[7]), t_max=2)
