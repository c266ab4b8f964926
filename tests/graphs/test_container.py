"""Positions, slices, and databases in scikit-learn's hands."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, resample, shuffle

from propkernels._utils.arrays import ranges
from propkernels.graphs import GraphDatabase
from propkernels.graphs.container import as_positions
from tests.zoo import cycle_edges, one, path_edges


@pytest.mark.parametrize("kind", [int, np.int8, np.uint16, np.int64, np.array])
def test_integers_of_every_kind_are_one_position(kind):
    position = as_positions(kind(2), 5)
    assert position == 2
    assert type(position) is int


def test_negative_integers_count_from_the_end():
    assert as_positions(-1, 5) == 4
    assert as_positions(np.int8(-5), 5) == 0
    assert as_positions([-1, 0, -2], 5).tolist() == [4, 0, 3]


@pytest.mark.parametrize(
    "key", [slice(None), slice(1, 4), slice(None, None, -2), slice(9, 20), slice(-2, None)]
)
def test_slices_are_those_of_lists(key):
    assert as_positions(key, 5).tolist() == list(range(5))[key]


@pytest.mark.parametrize("key", [[3, 1, 1], (3, 1, 1), np.array([3, 1, 1], dtype=np.uint8), range(3, 0, -1)])
def test_lists_of_positions(key):
    positions = as_positions(key, 5)
    assert positions.tolist() == list(key)
    assert positions.dtype == np.int64


def test_boolean_masks():
    assert as_positions([True, False, True], 3).tolist() == [0, 2]
    assert as_positions(np.array([False] * 3), 3).tolist() == []


def test_nothing_is_a_list_of_positions_too():
    assert as_positions([], 3).tolist() == []
    assert as_positions([], 3).dtype == np.int64


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (5, "graph 5 is out of range: there are 5 graphs"),
        (-6, "graph -6 is out of range: there are 5 graphs"),
        ([0, 7], "graph 7 is out of range: there are 5 graphs"),
        (np.array([0, -6]), "graph -6 is out of range: there are 5 graphs"),
        ([True, False], "a boolean mask of length 2 cannot index 5 graphs"),
        ([0.0, 1.0], "graphs are indexed by whole numbers, not by float64 values"),
        (["a"], "graphs are indexed by whole numbers, not by <U1 values"),
        ("a", "graphs are indexed by an int, slice, list or mask, not by 'a'"),
        (1.0, "graphs are indexed by an int, slice, list or mask, not by 1.0"),
        (True, "graphs are indexed by an int, slice, list or mask, not by True"),
        (None, "graphs are indexed by an int, slice, list or mask, not by None"),
        ([[0, 1]], "graphs are indexed by an int, slice, list or mask, not by [[0, 1]]"),
    ],
)
def test_refused(key, message):
    with pytest.raises(IndexError) as error:
        as_positions(key, 5)
    assert str(error.value) == message


def test_ranges():
    assert ranges(np.array([4, 0, 9]), np.array([2, 0, 3])).tolist() == [4, 5, 9, 10, 11]
    assert ranges(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []


def only_databases(graphs):
    if type(graphs) is not GraphDatabase:
        raise TypeError(f"got {type(graphs).__name__}")
    return graphs


class Sizes(TransformerMixin, BaseEstimator):
    """Nodes and edges of each graph; refuses anything but a GraphDatabase."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, graphs, y=None):
        self.n_graphs_ = len(only_databases(graphs))
        return self

    def transform(self, graphs):
        only_databases(graphs)
        return self.factor * np.array([[graph.n_nodes, graph.n_edges] for graph in graphs], dtype=float)


class Largest(ClassifierMixin, BaseEstimator):
    """A classifier that takes graphs themselves."""

    def fit(self, graphs, y):
        only_databases(graphs)
        self.classes_ = np.unique(y)
        return self

    def predict(self, graphs):
        return (only_databases(graphs).graph_sizes > 5).astype(int)


@pytest.fixture(scope="module")
def graphs():
    small = [one(n, path_edges(n), attributes=np.arange(n)) for n in (2, 3, 4, 5, 2, 3, 4, 5, 2, 3)]
    large = [one(n, cycle_edges(n), attributes=np.ones(n)) for n in (6, 7, 8, 9, 10, 11, 6, 7, 8, 9)]
    return GraphDatabase.concat(small + large)


@pytest.fixture(scope="module")
def target():
    return np.repeat([0, 1], 10)


def model():
    return make_pipeline(FunctionTransformer(only_databases), Sizes(), KNeighborsClassifier(1))


def test_pipeline(graphs, target):
    fitted = model().fit(graphs, target)
    assert fitted.score(graphs, target) == 1
    assert fitted.predict(graphs[:2]).tolist() == [0, 0]


def test_feature_union(graphs):
    assert FeatureUnion([("a", Sizes()), ("b", Sizes(2.0))]).fit_transform(graphs).shape == (20, 4)


def test_cross_validation(graphs, target):
    assert cross_val_score(model(), graphs, target, cv=5).mean() > 0.8
    assert cross_val_score(Largest(), graphs, target, cv=5).tolist() == [1] * 5
    assert cross_val_predict(Largest(), graphs, target, cv=5).tolist() == target.tolist()
    found = cross_validate(
        model(), graphs, target, cv=StratifiedKFold(4), return_estimator=True, error_score="raise"
    )
    assert [estimator[1].n_graphs_ for estimator in found["estimator"]] == [15] * 4


@pytest.mark.slow
def test_learning_curve(graphs, target):
    sizes, _, scores = learning_curve(
        model(), graphs, target, cv=2, shuffle=True, random_state=0, error_score="raise"
    )
    assert scores.shape == (len(sizes), 2)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(graphs, target, n_jobs):
    search = GridSearchCV(
        Pipeline([("sizes", Sizes()), ("knn", KNeighborsClassifier())]),
        {"knn__n_neighbors": [1, 3], "sizes__factor": [1.0, 2.0]},
        cv=3,
        n_jobs=n_jobs,
        error_score="raise",
    ).fit(graphs, target)
    assert search.best_score_ > 0.8
    assert search.predict(graphs).shape == (20,)


def test_splitting(graphs, target):
    train, test, y_train, y_test = train_test_split(graphs, target, random_state=0, stratify=target)
    assert type(train) is type(test) is GraphDatabase
    assert (len(train), len(test)) == (15, 5)
    assert ((train.graph_sizes > 5) == y_train).all()
    assert ((test.graph_sizes > 5) == y_test).all()
    ordered, rest = train_test_split(graphs, shuffle=False, train_size=0.5)
    assert ordered == graphs[:10]
    assert rest == graphs[10:]


def test_folds_index_databases(graphs):
    for train, test in KFold(3, shuffle=True, random_state=0).split(graphs):
        joined = GraphDatabase.concat([graphs[train], graphs[test]])
        assert joined[np.argsort(np.concatenate([train, test]))] == graphs


def test_shuffle_and_resample(graphs, target):
    mixed, y = shuffle(graphs, target, random_state=0)
    assert type(mixed) is GraphDatabase
    assert ((mixed.graph_sizes > 5) == y).all()
    drawn, y = resample(graphs, target, n_samples=30, random_state=0)
    assert type(drawn) is GraphDatabase
    assert ((drawn.graph_sizes > 5) == y).all()
    assert len(drawn) == 30


@pytest.mark.parametrize("key", [[0, 3], (0, 3), np.array([0, 3]), slice(0, 4, 3)])
def test_safe_indexing_by_positions(graphs, key):
    assert _safe_indexing(graphs, key) == graphs[[0, 3]]


def test_safe_indexing_by_mask(graphs):
    mask = np.arange(20) % 2 == 0
    assert _safe_indexing(graphs, mask) == _safe_indexing(graphs, mask.tolist()) == graphs[::2]


def test_clone_copies_a_database_among_the_parameters(graphs):
    copy = clone(FunctionTransformer(only_databases, kw_args={"graphs": graphs})).kw_args["graphs"]
    assert copy == graphs
    assert copy is not graphs
    assert clone(graphs, safe=False) == graphs
