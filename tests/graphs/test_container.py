"""Positions and slices, and databases in scikit-learn's hands."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, shuffle

from propkernels.graphs import GraphDatabase
from propkernels.graphs.container import as_positions
from tests.zoo import cycle_edges, one, path_edges

POSITIONS = [
    (2, 2),
    (np.int8(-5), 0),
    (np.array(2), 2),
    ([-1, 0, -2], [4, 0, 3]),
    (np.array([3, 1], dtype=np.uint8), [3, 1]),
    (range(3, 0, -1), [3, 2, 1]),
    ([True, False, True, False, False], [0, 2]),
    ((), []),
    (slice(None, None, -2), [4, 2, 0]),
    (slice(-2, 20), [3, 4]),
]


@pytest.mark.parametrize(("key", "expected"), POSITIONS)
def test_positions(key, expected):
    found = as_positions(key, 5)
    assert type(found) is int or found.dtype == np.int64
    assert (found if isinstance(found, int) else found.tolist()) == expected


def test_scikit_learn_splits_databases():
    """Graphs of more than five nodes are the second class."""
    sizes = [2, 3, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11]
    graphs = GraphDatabase.concat([one(n, path_edges(n) if n < 6 else cycle_edges(n)) for n in sizes])
    target = np.array(sizes) > 5
    train, test, y_train, y_test = train_test_split(graphs, target, random_state=0, stratify=target)
    assert type(train) is type(test) is GraphDatabase
    mixed, y = shuffle(graphs, target, random_state=0)
    for some, classes in ((train, y_train), (test, y_test), (mixed, y)):
        assert ((some.graph_sizes > 5) == classes).all()
    mask = np.arange(12) % 2 == 0
    assert _safe_indexing(graphs, mask) == _safe_indexing(graphs, np.flatnonzero(mask)) == graphs[::2]
    assert clone(graphs, safe=False) == graphs
