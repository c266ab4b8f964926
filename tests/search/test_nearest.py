"""Searches of inverted files: the values of plain Python, whatever was added and removed."""

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Query, largest
from tests.search.test_segment import CASES, streams_of

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


def test_rows_of_more_graphs_than_a_block_has():
    counts = np.random.default_rng(0).integers(0, 3, (3000, 4)) + np.eye(3000, 4)
    file, query = InvertedFile.of([streams_of(counts)]), Query.all([streams_of(counts[:1])])[0]
    expected = counts @ counts[0] / np.linalg.norm(counts, axis=1).clip(1e-9) / np.linalg.norm(counts[0])
    np.testing.assert_allclose(file.similarities(query), expected, rtol=1e-12)


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


def test_a_query_of_another_kernel_is_refused():
    file = InvertedFile.of(CASES["both"])
    with pytest.raises(ValueError, match="another kernel"):
        file.similarities(Query.all(CASES["rare"])[0])


def test_segments_have_no_more_graphs_than_words_can_number(monkeypatch):
    monkeypatch.setattr("propkernels.search.inverted_file.MOST_GRAPHS", 25)
    graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    counter = pk.PropagationKernel(t_max=2, random_state=0).fit(graphs)._counter
    file = InvertedFile.of(counter.count(graphs[:10], None))
    for first in range(10, 60, 10):
        file = file.append(counter.count(graphs[first : first + 10], None))
    assert [part.n_graphs for part in file.segments] == [20, 20, 20]
    query = Query.all(counter.count(graphs[:1], None))[0]
    whole = InvertedFile.of(counter.count(graphs, None))
    assert np.array_equal(file.similarities(query), whole.similarities(query))
