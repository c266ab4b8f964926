"""Molecule-like graphs, generated: for tests, demonstrations and benchmarks without any files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels.datasets.arguments import RandomState, random_generator, whole_number
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.edges import undirected
from propkernels.graphs import GraphDatabase, LabelColumn

ATOMS = ("C", "N", "O", "F", "S", "Cl")
ATOM_SHARES = (0.72, 0.08, 0.09, 0.05, 0.03, 0.03)
NITROGEN, OXYGEN = 1, 2
STEP_BACK_SHARES = (0.75, 0.20, 0.05)
RING_SPACING, RING_SIZE, RING_SHARE = 10, 6, 0.5
MOTIF_SPACING, MOTIF_SHARE = 8, 0.75
DESCRIPTION = (
    "Generated graphs like molecules: trees with at most four neighbours a node and some rings of six. Both "
    "classes have the same atoms; in class 1 pairs of N and O are bonded, in class 0 one atom lies between."
)


def make_molecules(n_graphs: int, random_state: RandomState = None, mean_nodes: int = 25) -> Dataset:
    """Generate labelled graphs that look like molecules, in two classes.

    Every graph is a tree of degree at most 4 with some rings of six atoms, labelled "C", "N", "O", "F",
    "S" or "Cl". Labels follow the same distribution in both classes, so that counting labels (t_max = 0)
    does no better than guessing; in class 1 some N and O are neighbours, in class 0 they are at distance 2.

    Parameters
    ----------
    n_graphs : int
        Number of graphs; half of them (rounded down) are in class 1, in random order.
    random_state : int, Generator, RandomState or None
        Seed of the generator.
    mean_nodes : int, default 25
        Sizes are uniform between half and one and a half times this.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(10, random_state=0)
    >>> len(data.graphs), data.n_classes
    (10, 2)
    """
    n_graphs, mean_nodes = whole_number(n_graphs, "n_graphs", 1), whole_number(mean_nodes, "mean_nodes", 1)
    rng = random_generator(random_state)
    target = rng.permutation(np.arange(n_graphs) % 2)
    least = max(1, mean_nodes // 2)
    sizes = rng.integers(least, 2 * mean_nodes - least, size=n_graphs, endpoint=True)
    nodes = _Nodes.of(sizes)
    rings = _ring_starts(nodes, rng)
    steps = _steps_to_parent(nodes, rings, rng)
    labels = _labels(nodes, steps, target, rng)
    adjacency = undirected(_edges(steps, rings), len(steps))
    graphs = GraphDatabase(adjacency, nodes.graph_ptr, node_labels=LabelColumn(labels, ATOMS))
    return Dataset("make_molecules", graphs, target, ("apart", "bonded"), {}, DESCRIPTION)


@dataclass(frozen=True)
class _Nodes:
    """Nodes of all graphs: the graph of each, and its position, and the nodes from it to the end."""

    graph_ptr: NDArray[np.int64]
    graph: NDArray[np.int64]
    position: NDArray[np.int64]
    remaining: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> _Nodes:
        graph_ptr = np.concatenate([[0], np.cumsum(sizes)])
        graph = np.repeat(np.arange(len(sizes)), sizes)
        position = np.arange(graph_ptr[-1]) - graph_ptr[graph]
        return cls(graph_ptr, graph, position, sizes[graph] - position)


def _ring_starts(nodes: _Nodes, rng: np.random.Generator) -> NDArray[np.int64]:
    """First atoms of rings: at most one ring in each stretch of ten nodes, wholly inside it."""
    stretches = np.flatnonzero(nodes.position % RING_SPACING == 0)
    shifts = rng.integers(0, RING_SPACING - RING_SIZE, size=len(stretches), endpoint=True)
    fits = shifts + RING_SIZE <= nodes.remaining[stretches]
    wanted = rng.random(len(stretches)) < RING_SHARE
    return (stretches + shifts)[fits & wanted]


def _steps_to_parent(nodes: _Nodes, rings: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """How far back each node's parent lies: 1, 2 or 3, so that no node has more than three children."""
    steps = rng.choice([1, 2, 3], size=len(nodes.position), p=STEP_BACK_SHARES)
    steps[(rings[:, None] + np.arange(1, RING_SIZE)).ravel()] = 1
    fourth = rings + RING_SIZE + 2  # would be the ring's last atom's fifth neighbour
    fourth = fourth[fourth < len(steps)]
    steps[fourth] = np.minimum(steps[fourth], 2)
    return np.minimum(steps, nodes.position)


def _edges(steps: NDArray[np.int64], rings: NDArray[np.int64]) -> NDArray[np.int64]:
    children = np.flatnonzero(steps)
    bonds = np.stack([children - steps[children], children], axis=1)
    closings = np.stack([rings, rings + RING_SIZE - 1], axis=1)
    return np.concatenate([bonds, closings])


def _labels(
    nodes: _Nodes, steps: NDArray[np.int64], target: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Atoms at random; then an O here and there, with an N next to it (class 1) or two bonds away."""
    labels = rng.choice(len(ATOMS), size=len(steps), p=ATOM_SHARES).astype(np.int32)
    sites = np.flatnonzero(nodes.position % MOTIF_SPACING == MOTIF_SPACING - 1)
    sites = sites[rng.random(len(sites)) < MOTIF_SHARE]
    parents = sites - steps[sites]
    grandparents = parents - steps[parents]
    bonded = target[nodes.graph[sites]] == 1
    labels[sites] = OXYGEN
    labels[np.where(bonded, parents, grandparents)] = NITROGEN
    return labels
