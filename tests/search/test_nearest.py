"""The search of segments: the values of plain Python, whatever the order and number of segments."""

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Query, largest
from tests.search.test_segment import CASES

every_case = pytest.mark.parametrize("streams", [s for n, s in CASES.items() if n != "no graphs"])


def reference(streams):
    """Normalized kernel between all pairs."""
    products = sum(stream.weight * (stream.counts @ stream.counts.T).toarray() for stream in streams)
    length = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    return np.divide(products, length, out=np.zeros_like(products), where=length > 0)


@every_case
def test_similarities_are_the_normalized_kernel(streams):
    file = InvertedFile.of(streams)
    for query, expected in zip(Query.all(streams), reference(streams), strict=True):
        np.testing.assert_allclose(file.similarities(query), expected, rtol=1e-14)


@every_case
def test_values_that_exceed_a_number_are_those_of_all(streams):
    file = InvertedFile.of(streams)
    for query in Query.all(streams):
        (search,) = file.searches(query)
        values = search.similarities()
        for least in (-1.0, 0.0, 0.3, float(np.median(values)), 1.0):
            for k in {1, min(3, len(values)), len(values)}:
                order = largest(values, k)
                order = order[values[order] > least]
                found, numbers = search.best(k, least)
                assert np.array_equal(numbers, order)
                assert np.array_equal(found, values[order])


def test_the_first_values_among_equals():
    values = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    assert largest(values, 3).tolist() == [1, 0, 2]
    assert largest(values, 0).tolist() == []


def test_neighbors_are_drawn_with_their_names():
    """In notebooks, while the indexed graphs are in memory and the index has not changed."""
    graphs = pk.datasets.load("FAMILIES").graphs
    index = pk.GraphIndex(random_state=0).fit(graphs)
    found = index.query(graphs[:2], k=3)
    html = found._repr_html_()
    assert html.count("<figure") == 6
    assert f"{graphs.ids[0]}: 1.000" in html
    similarities, ids = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(ids, found.ids)
    np.testing.assert_array_equal(similarities, found.similarities)
    assert repr(found).splitlines()[1].startswith("0: 0 1.000, ")
    assert index.query(graphs[0], k=2)._repr_html_().count("<figure") == 2
    assert index.query(graphs[:2], at_least=0.99)._repr_html_().count("<figure") >= 2
    index.remove([5])
    assert index.query(graphs[:2], k=3)._repr_html_().count("<figure") == 0
    assert "graph 1: 1: 1.000" in index.query(graphs[:2], k=3)._repr_html_()
