"""Positions, slices, and databases in scikit-learn's hands."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
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


def only_databases(graphs):
    if type(graphs) is not GraphDatabase:
        raise TypeError(f"got {type(graphs).__name__}")
    return graphs


class Largest(ClassifierMixin, BaseEstimator):
    """A classifier that takes graphs themselves."""

    def __init__(self, border=5):
        self.border = border

    def fit(self, graphs, y):
        only_databases(graphs)
        self.classes_ = np.unique(y)
        return self

    def predict(self, graphs):
        return (only_databases(graphs).graph_sizes > self.border).astype(int)


@pytest.fixture(scope="module")
def graphs():
    small = [one(n, path_edges(n), attributes=np.arange(n)) for n in (2, 3, 4, 5, 2, 3, 4, 5, 2, 3)]
    large = [one(n, cycle_edges(n), attributes=np.ones(n)) for n in (6, 7, 8, 9, 10, 11, 6, 7, 8, 9)]
    return GraphDatabase.concat(small + large)


@pytest.fixture(scope="module")
def target():
    return np.repeat([0, 1], 10)


def test_cross_validation(graphs, target):
    assert cross_val_score(Largest(), graphs, target, cv=5).tolist() == [1] * 5
    model = make_pipeline(FunctionTransformer(only_databases), Largest())
    search = GridSearchCV(model, {"largest__border": [5, 99]}, error_score="raise").fit(graphs, target)
    assert search.best_params_ == {"largest__border": 5}


def test_splitting(graphs, target):
    train, test, y_train, y_test = train_test_split(graphs, target, random_state=0, stratify=target)
    assert type(train) is type(test) is GraphDatabase
    assert (len(train), len(test)) == (15, 5)
    assert ((train.graph_sizes > 5) == y_train).all()
    assert ((test.graph_sizes > 5) == y_test).all()
    mixed, y = shuffle(graphs, target, random_state=0)
    assert ((mixed.graph_sizes > 5) == y).all()
    mask = np.arange(20) % 2 == 0
    assert _safe_indexing(graphs, mask) == _safe_indexing(graphs, np.flatnonzero(mask)) == graphs[::2]
    assert clone(graphs, safe=False) == graphs
    ordered, rest = train_test_split(graphs, shuffle=False, train_size=0.5)
    assert ordered == graphs[:10]
    assert rest == graphs[10:]
