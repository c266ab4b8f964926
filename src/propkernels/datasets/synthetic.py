"""SYNTHETIC: the paper's attributed graphs, generated from their description."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.datasets.arguments import RandomState, random_generator, whole_number
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.edges import undirected
from propkernels.datasets.grid import repeat_diagonal
from propkernels.graphs import GraphDatabase

FLIPS_IN_A, FLIPS_IN_B = 10, 5
NOISE_IN_B = 0.45
DESCRIPTION = (
    "Copies of one random graph with one normally distributed attribute a node. In each graph of class A the "
    f"attributes of {FLIPS_IN_A} nodes are exchanged, in each of class B those of {FLIPS_IN_B}, and noise "
    f"from N(0, {NOISE_IN_B}^2) is added to the attributes in B."
)


def make_synthetic(
    n_graphs: int = 300, n_nodes: int = 100, n_edges: int = 196, random_state: RandomState = None
) -> Dataset:
    """Generate the data set SYNTHETIC from its description in the paper (section on attributed graphs).

    All graphs are copies of one random graph whose nodes have an attribute from N(0, 1). In each graph of
    class A the attributes of 10 random nodes are exchanged among them; in each of class B those of 5, and
    then noise from N(0, 0.45^2) is added to all attributes. The published file, ``load("SYNTHETIC")``,
    departs from that text: it exchanges the same nodes in all graphs of a class and has noise in both.

    Parameters
    ----------
    n_graphs : int, default 300
        Number of graphs, the first half (rounded up) in class A (0), the rest in class B (1).
    n_nodes : int, default 100
        Nodes of each graph.
    n_edges : int, default 196
        Edges of each graph.
    random_state : int, Generator, RandomState or None
        Seed of the generator.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.datasets.make_synthetic(n_graphs=4, random_state=0)
    Dataset(make_synthetic: 4 graphs, 400 nodes, 784 edges, 1 attribute, 2 classes)
    """
    n_graphs, n_nodes = whole_number(n_graphs, "n_graphs", 1), whole_number(n_nodes, "n_nodes", 1)
    n_edges = whole_number(n_edges, "n_edges", 0)
    rng = random_generator(random_state)
    base = _random_graph(n_nodes, n_edges, rng)
    target = (np.arange(n_graphs) >= (n_graphs + 1) // 2).astype(np.int64)
    attributes = _attributes(target, n_nodes, rng)
    graph_ptr = np.arange(n_graphs + 1) * n_nodes
    graphs = GraphDatabase(repeat_diagonal(base, n_graphs), graph_ptr, node_attributes=attributes.ravel())
    return Dataset("make_synthetic", graphs, target, ("A", "B"), {}, DESCRIPTION)


def _random_graph(n_nodes: int, n_edges: int, rng: np.random.Generator) -> Any:
    """Adjacency with exactly ``n_edges`` edges, all such graphs equally likely."""
    pairs = np.stack(np.triu_indices(n_nodes, k=1), axis=1)
    if n_edges > len(pairs):
        raise ValueError(f"n_edges must be at most {len(pairs)} for {n_nodes} nodes, got {n_edges}")
    return undirected(pairs[rng.choice(len(pairs), size=n_edges, replace=False)], n_nodes)


def _attributes(target: NDArray[np.int64], n_nodes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """One row a graph: the base attributes, some exchanged, with noise in class B."""
    base = rng.standard_normal(n_nodes)
    attributes = np.tile(base, (len(target), 1))
    shuffled = np.argsort(rng.random(attributes.shape), axis=1)
    for label, n_flips in enumerate((FLIPS_IN_A, FLIPS_IN_B)):
        rows = np.flatnonzero(target == label)[:, None]
        chosen = shuffled[rows[:, 0], :n_flips]
        attributes[rows, chosen] = base[np.roll(chosen, 1, axis=1)]  # a cycle: every chosen one moves
    noise = NOISE_IN_B * rng.standard_normal(attributes.shape)
    return attributes + noise * (target == 1)[:, None]
