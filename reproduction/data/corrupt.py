"""Hide labels, for experiments with missing labels."""

from __future__ import annotations

import numpy as np

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
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        raise TypeError("only certain labels can be hidden")
    observed, ids = np.flatnonzero(column.observed), column.ids.copy()
    drawn = np.random.RandomState(random_state).permutation(observed)
    ids[drawn[: round(fraction * len(observed))]] = UNOBSERVED
    return graphs.with_labels(LabelColumn(ids, column.values))
