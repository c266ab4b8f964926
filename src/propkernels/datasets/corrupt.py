"""Hide and corrupt labels, for experiments with missing and noisy labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_share
from propkernels._utils.typing import Seed
from propkernels.convert.check import check_graphs
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import UNOBSERVED, LabelColumn


def hide_labels(graphs: Graphs, fraction: float, random_state: Seed = None) -> GraphDatabase:
    """Return graphs in which the labels of random nodes are unobserved.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
        Graphs with node labels.
    fraction : float in [0, 1]
        Fraction of the observed labels of all graphs to hide.
    random_state : int, RandomState or None
        Seed. With the same seed, a larger fraction hides the same nodes and more.

    Returns
    -------
    GraphDatabase

    See Also
    --------
    propkernels.datasets.flip_labels : Replaces labels by wrong ones.
    LabelPropagation : Propagation scheme for missing labels.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.datasets.hide_labels([(path, [3, 4, 5])], 1 / 3, random_state=0).node_labels
    array([ 3,  4, -1])
    """
    database = check_graphs(graphs)
    column = _hard_labels(database)
    chosen = _choose(column, fraction, random_state)[0]
    ids = column.ids.copy()
    ids[chosen] = UNOBSERVED
    return database.with_labels(LabelColumn(ids, column.values))


def flip_labels(graphs: Graphs, fraction: float, random_state: Seed = None) -> GraphDatabase:
    """Return graphs in which random nodes have another label, drawn uniformly from the labels that occur.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
        Graphs with at least two different node labels.
    fraction : float in [0, 1]
        Fraction of the observed labels of all graphs to replace.
    random_state : int, RandomState or None
        Seed for the nodes and their new labels.

    Returns
    -------
    GraphDatabase

    See Also
    --------
    propkernels.datasets.hide_labels : Removes labels.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    >>> flipped = pk.datasets.flip_labels(graphs, 0.25, random_state=0)
    >>> round(float((flipped.node_labels != graphs.node_labels).mean()), 2)
    0.25
    """
    database = check_graphs(graphs)
    column = _hard_labels(database)
    chosen, generator = _choose(column, fraction, random_state)
    present = np.unique(column.ids[column.observed])
    if len(chosen) and len(present) < 2:
        raise ValueError("labels cannot be flipped: only one label occurs")
    ids = column.ids.copy()
    rank = np.searchsorted(present, ids[chosen])
    shift = generator.randint(1, max(len(present), 2), size=len(chosen))
    ids[chosen] = present[(rank + shift) % len(present)]
    return database.with_labels(LabelColumn(ids, column.values))


def _hard_labels(graphs: GraphDatabase) -> LabelColumn:
    column = graphs.label_column
    if column is None:
        raise ValueError("the graphs have no node labels to change")
    if not isinstance(column, LabelColumn):
        raise TypeError("the graphs have label distributions: only certain labels can be hidden or flipped")
    return column


def _choose(column: LabelColumn, fraction: float, random_state: Any) -> tuple[NDArray[Any], Any]:
    from sklearn.utils import check_random_state

    generator = check_random_state(random_state)
    observed = np.flatnonzero(column.observed)
    number = round(check_share(fraction, "fraction") * len(observed))
    return generator.permutation(observed)[:number], generator
