"""Clusters, picks and splits without leaks against their definitions on a matrix of all pairs."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

import propkernels as pk
from propkernels.sets import clusters
from tests.zoo import labelled_zoo

GRAPHS = pk.datasets.make_molecules(120, random_state=5).graphs
KERNEL = pk.WeisfeilerLehman(t_max=2)


def jaccard(graphs, t_max=2):
    """Matrix of the Jaccard similarity of counts, from the definition."""
    counts = pk.WeisfeilerLehmanFeatures(t_max=t_max).fit_transform(graphs).toarray()
    smaller = np.array([[np.minimum(x, y).sum() for y in counts] for x in counts])
    sums = counts.sum(axis=1)
    larger = sums[:, None] + sums - smaller
    return np.divide(smaller, larger, out=np.zeros_like(smaller), where=larger > 0)


def naive_butina(similar):
    """Taylor-Butina: lists of neighbors, longest first; a list loses what earlier clusters took."""
    lists = [set(np.flatnonzero(row).tolist()) | {i} for i, row in enumerate(similar)]
    order = sorted(range(len(lists)), key=lambda i: (-int(similar[i].sum()), i))
    taken, clusters = set(), []
    for i in order:
        if i not in taken:
            members = lists[i] - taken
            clusters.append((i, members))
            taken |= members
    return clusters


@pytest.mark.parametrize("graphs", [GRAPHS, labelled_zoo()], ids=["molecules", "zoo"])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.35, 0.6, 1.0])
def test_clusters_are_those_of_the_definition(threshold, graphs):
    found = pk.SphereExclusion(threshold=threshold, kernel=KERNEL).fit(graphs)
    expected = naive_butina(jaccard(graphs) >= threshold)
    assert found.centers_.tolist() == [center for center, _ in expected]
    for label, (_, members) in enumerate(expected):
        assert set(np.flatnonzero(found.labels_ == label).tolist()) == members


def test_new_graphs_join_the_most_similar_center():
    model = pk.SphereExclusion(threshold=0.3, kernel=KERNEL).fit(GRAPHS[:80])
    matrix = jaccard(GRAPHS)[80:, :80][:, model.centers_]
    best = matrix.argmax(axis=1)
    expected = np.where(matrix.max(axis=1) >= 0.3, best, -1)
    found = model.predict(GRAPHS[80:])
    np.testing.assert_array_equal(found >= 0, expected >= 0)
    rows = np.flatnonzero(found >= 0)
    np.testing.assert_allclose(matrix[rows, found[rows]], matrix[rows].max(axis=1))
    np.testing.assert_array_equal(clone(model).fit_predict(GRAPHS[:80]), model.labels_)


def naive_picks(matrix, n, first):
    picked = [first]
    while len(picked) < n:
        rest = [i for i in range(len(matrix)) if i not in picked]
        picked.append(min(rest, key=lambda i: (matrix[i, picked].max(), i)))
    return picked


def test_picks_are_those_of_the_definition():
    matrix = jaccard(GRAPHS)
    found = pk.sets.MaxMinPicker(n_graphs=15, first=7, kernel=KERNEL).fit(GRAPHS)
    assert found.indices_.tolist() == naive_picks(matrix, 15, 7)
    expected = [matrix[i, found.indices_[:k]].max() for k, i in enumerate(found.indices_[1:], 1)]
    np.testing.assert_allclose(found.similarities_, [0.0, *expected])
    assert sorted(pk.sets.MaxMinPicker(n_graphs=99, kernel=KERNEL).fit(GRAPHS[:9]).indices_) == list(range(9))
    with pytest.raises(ValueError, match="first"):
        pk.sets.MaxMinPicker(first=9).fit(GRAPHS[:9])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("indices_", np.array([3, 3, 1]), "a graph is picked once"),
        ("indices_", np.array([3, -3, 1]), "positions are at least 0"),
        ("similarities_", np.zeros(2), "every picked graph needs a similarity"),
        ("labels_", np.zeros(20, dtype=np.int64), "every cluster needs a center"),
        ("n_neighbors_", np.zeros(3, dtype=np.int64), "every graph needs a cluster"),
    ],
)
def test_parts_that_do_not_fit_together(name, value, message):
    picker = pk.sets.MaxMinPicker(n_graphs=3, random_state=0).fit(GRAPHS[:20])
    clusters = pk.SphereExclusion(threshold=0.9, random_state=0).fit(GRAPHS[:20])
    model = picker if hasattr(picker, name) else clusters
    setattr(model, name, value)
    with pytest.raises(ValueError, match=message):
        model._check_parts()


def test_many_pairs_are_counted_and_not_stored(monkeypatch):
    stored = pk.SphereExclusion(threshold=0.3, kernel=KERNEL).fit(GRAPHS)
    monkeypatch.setattr(clusters, "MOST_PAIRS", 5)
    counted = pk.SphereExclusion(threshold=0.3, kernel=KERNEL).fit(GRAPHS)
    np.testing.assert_array_equal(counted.labels_, stored.labels_)
    np.testing.assert_array_equal(counted.n_neighbors_, stored.n_neighbors_)
    assert counted.n_neighbors_.tolist() == (jaccard(GRAPHS) >= 0.3).sum(axis=1).tolist()


MATRIX = jaccard(GRAPHS)


@pytest.mark.parametrize("threshold", [0.3, 0.35, 0.7])
def test_groups_are_the_components_of_similar_graphs(threshold):
    found = pk.sets.SimilarityGroupKFold(threshold=threshold, kernel=KERNEL).groups(GRAPHS)
    expected = connected_components(threshold <= MATRIX)[1]
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


@pytest.mark.parametrize(
    "splitter",
    [
        pk.sets.SimilarityGroupKFold(3, threshold=0.6, kernel=KERNEL),
        pk.SimilaritySplit(4, test_size=0.3, threshold=0.6, kernel=KERNEL, random_state=0),
    ],
    ids=["folds", "splits"],
)
def test_no_test_graph_is_similar_to_a_training_graph(splitter):
    folds = list(splitter.split(GRAPHS))
    assert len(folds) == splitter.get_n_splits()
    if isinstance(splitter, pk.sets.SimilarityGroupKFold):  # each graph is tested once
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(GRAPHS)))
    for train, test in folds:
        assert min(len(train), len(test)) > 0
        assert sorted([*train, *test]) == list(range(len(GRAPHS)))
        assert MATRIX[np.ix_(train, test)].max() < 0.6


def test_too_few_groups_are_a_sentence():
    with pytest.raises(ValueError, match=r"form 1 groups of similarity 0\.0 or more, and 5 are needed"):
        next(pk.sets.SimilarityGroupKFold(threshold=0.0, kernel=KERNEL).split(GRAPHS))
