"""A generator of data sets: molecule-like graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import offsets
from propkernels._utils.checks import RandomState, check_integer, random_generator
from propkernels.datasets.dataset import Dataset
from propkernels.graphs import GraphDatabase, LabelColumn

Numbers = NDArray[np.int64]
ATOMS = ("C", "N", "O", "F", "S", "Cl")
ATOM_SHARES = (0.72, 0.08, 0.09, 0.05, 0.03, 0.03)
NITROGEN, OXYGEN = 1, 2
STEP_BACK_SHARES = (0.75, 0.20, 0.05)
RING_SPACING, RING_SIZE, RING_SHARE = 10, 6, 0.5
MOTIF_SPACING, MOTIF_SHARE = 8, 0.75
MOLECULES_DESCRIPTION = (
    "Generated graphs like molecules: trees with at most four neighbors per node and some rings of six. Both "
    "classes have the same atoms; in class 1 pairs of N and O are bonded, in class 0 one atom lies between."
)


def make_molecules(n_graphs: int, random_state: RandomState = None, mean_nodes: int = 25) -> Dataset:
    """Generate labeled graphs that look like molecules, in two classes.

    Every graph is a tree of degree at most 4 with some rings of six atoms, labeled "C", "N", "O", "F",
    "S" or "Cl". The distribution of labels is the same in both classes, so that counting labels (t_max = 0)
    is no better than guessing; in class 1 some N and O are neighbors, in class 0 they are at distance 2.

    Parameters
    ----------
    n_graphs : int
        Number of graphs; half of them (rounded down) are in class 1, in random order.
    random_state : int, Generator, RandomState or None
        Seed of the generator.
    mean_nodes : int, default 25
        Numbers of nodes are uniform between 0.5 and 1.5 times this value.

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
    n_graphs, mean_nodes = check_integer(n_graphs, "n_graphs", 1), check_integer(mean_nodes, "mean_nodes", 1)
    rng = random_generator(random_state)
    target = rng.permutation(np.arange(n_graphs) % 2)
    least = max(1, mean_nodes // 2)
    sizes = rng.integers(least, 2 * mean_nodes - least, size=n_graphs, endpoint=True)
    graph_ptr = offsets(sizes)
    graph = np.repeat(np.arange(n_graphs), sizes)
    position = np.arange(graph_ptr[-1]) - graph_ptr[graph]  # of each node in its graph
    rings = _ring_starts(position, sizes[graph] - position, rng)
    steps = _steps_to_parent(position, rings, rng)
    labels = _labels(position, steps, target[graph] == 1, rng)
    adjacency = _both_ways(_edges(steps, rings), len(steps))
    graphs = GraphDatabase(adjacency, graph_ptr, node_labels=LabelColumn(labels, ATOMS))
    return Dataset("make_molecules", graphs, target, ("apart", "bonded"), {}, MOLECULES_DESCRIPTION)


def _ring_starts(position: Numbers, remaining: Numbers, rng: np.random.Generator) -> Numbers:
    """Return the first atoms of rings: at most one ring inside each block of ten nodes."""
    stretches = np.flatnonzero(position % RING_SPACING == 0)
    shifts = rng.integers(0, RING_SPACING - RING_SIZE, size=len(stretches), endpoint=True)
    fits = shifts + RING_SIZE <= remaining[stretches]
    wanted = rng.random(len(stretches)) < RING_SHARE
    return (stretches + shifts)[fits & wanted]


def _steps_to_parent(position: Numbers, rings: Numbers, rng: np.random.Generator) -> Numbers:
    """Return each node's distance to its parent: 1, 2 or 3, so that nodes have at most three children."""
    steps = rng.choice([1, 2, 3], size=len(position), p=STEP_BACK_SHARES)
    steps[(rings[:, None] + np.arange(1, RING_SIZE)).ravel()] = 1
    fourth = rings + RING_SIZE + 2  # would be the fifth neighbor of the ring's last atom
    fourth = fourth[fourth < len(steps)]
    steps[fourth] = np.minimum(steps[fourth], 2)
    return np.minimum(steps, position)


def _edges(steps: Numbers, rings: Numbers) -> Numbers:
    children = np.flatnonzero(steps)
    bonds = np.stack([children - steps[children], children], axis=1)
    closings = np.stack([rings, rings + RING_SIZE - 1], axis=1)
    return np.concatenate([bonds, closings])


def _both_ways(ends: NDArray[np.int64], n_nodes: int) -> coo_array:
    """Return the symmetric matrix with a 1 in both directions of each edge, listed in one direction."""
    both = np.concatenate([ends, ends[:, ::-1]])
    return coo_array((np.ones(len(both)), tuple(both.T)), shape=(n_nodes, n_nodes))


def _labels(
    position: Numbers, steps: Numbers, bonded: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return random labels, with some pairs of O and N at distance 1 if bonded, else 2."""
    labels = rng.choice(len(ATOMS), size=len(steps), p=ATOM_SHARES).astype(np.int32)
    sites = np.flatnonzero(position % MOTIF_SPACING == MOTIF_SPACING - 1)
    sites = sites[rng.random(len(sites)) < MOTIF_SHARE]
    parents = sites - steps[sites]
    labels[sites] = OXYGEN
    labels[np.where(bonded[sites], parents, parents - steps[parents])] = NITROGEN
    return labels
