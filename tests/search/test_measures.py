"""Measures of similarity against their definitions on dense counts, in memory and on disk."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.search.bounds import MEASURES

GRAPHS = pk.datasets.make_molecules(60, random_state=3).graphs
KERNEL = pk.WeisfeilerLehman(t_max=2)


def naive(name, x, y):
    """Similarity of two count vectors, from the definition."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    below = {
        "cosine": np.sqrt((x @ x) * (y @ y)),
        "tanimoto": x @ x + y @ y - x @ y,
        "intersection": np.sqrt(x.sum() * y.sum()),
        "jaccard": np.maximum(x, y).sum(),
    }[name]
    above = x @ y if name in ("cosine", "tanimoto") else np.minimum(x, y).sum()
    return above / below if below > 0 else 0.0


def matrix(name, graphs):
    counts = pk.WeisfeilerLehmanFeatures(t_max=2).fit_transform(graphs).toarray()
    return np.array([[naive(name, x, y) for y in counts] for x in counts])


@pytest.mark.parametrize("name", MEASURES)
def test_nearest_graphs_are_those_of_the_definition(name):
    expected = matrix(name, GRAPHS)
    found = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS).query(GRAPHS, k=7)
    order = np.argsort(-expected.round(12), axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(found.ids, order)
    np.testing.assert_allclose(found.similarities, np.take_along_axis(expected, order, 1), rtol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("at_least", [0.0, 0.5, 0.7, 1.0])
def test_thresholds_return_exactly_what_reaches_them(name, at_least):
    expected = matrix(name, GRAPHS)
    found = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS).query(GRAPHS, at_least=at_least)
    for row, values, ids in zip(expected, *found, strict=True):
        assert set(ids) == set(np.flatnonzero(row >= at_least - 1e-12))
        np.testing.assert_allclose(values, row[ids], rtol=1e-12)
        assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("name", MEASURES)
def test_shared_bins_add_up_to_the_similarity(name):
    index = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS)
    values, ids = index.query(GRAPHS[0], k=4)
    for value, other in zip(values, ids, strict=True):
        assert pk.similar_because(GRAPHS[0], GRAPHS[int(other)], kernel=index).value == pytest.approx(value)
