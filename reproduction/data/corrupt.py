"""Hide and corrupt labels, for experiments with missing and noisy labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels import GraphDatabase
from propkernels.graphs.labels import UNOBSERVED, LabelColumn


def hide_labels(graphs: GraphDatabase, fraction: float, random_state: int) -> GraphDatabase:
    """Return graphs in which a fraction of the observed labels of all graphs is unobserved.

    With the same ``random_state``, a larger fraction hides the same nodes and more.

    Examples
    --------
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> hide_labels(GraphDatabase(path, [0, 3], [3, 4, 5]), 1 / 3, random_state=0).node_labels
    array([ 3,  4, -1])
    """
    column, chosen, _ = _drawn(graphs, fraction, random_state)
    ids = column.ids.copy()
    ids[chosen] = UNOBSERVED
    return graphs.with_labels(LabelColumn(ids, column.values))


def flip_labels(graphs: GraphDatabase, fraction: float, random_state: int) -> GraphDatabase:
    """Return graphs in which random nodes have another label, drawn uniformly from the labels that occur."""
    column, chosen, generator = _drawn(graphs, fraction, random_state)
    present = np.unique(column.ids[column.observed])
    ids = column.ids.copy()
    rank = np.searchsorted(present, ids[chosen])
    shift = generator.randint(1, max(len(present), 2), size=len(chosen))
    ids[chosen] = present[(rank + shift) % len(present)]
    return graphs.with_labels(LabelColumn(ids, column.values))


def _drawn(
    graphs: GraphDatabase, fraction: float, random_state: int
) -> tuple[LabelColumn, NDArray[np.int64], np.random.RandomState]:
    """Return the labels, the numbers of the chosen nodes, and the generator after the draw."""
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        raise TypeError("only certain labels can be hidden or flipped")
    generator = np.random.RandomState(random_state)
    observed = np.flatnonzero(column.observed)
    return column, generator.permutation(observed)[: round(fraction * len(observed))], generator
