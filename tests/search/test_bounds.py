"""Search by bounds returns what reading all postings returns, to the bit."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.search import bounds
from propkernels.search.nearest import Query

GRAPHS = pk.datasets.make_molecules(160, random_state=4, mean_nodes=12).graphs
KERNEL = pk.WeisfeilerLehman(t_max=2)
QUERIES = pk.GraphDatabase.concat(
    [GRAPHS[:6], pk.datasets.make_molecules(3, random_state=9, mean_nodes=30).graphs]
)


@pytest.fixture(params=[1, 64], ids=["read", "looked up"])
def small(request, monkeypatch):
    """Segments of all sizes are searched by bounds, with few or many graphs looked up."""
    monkeypatch.setattr(bounds, "LEAST_GRAPHS", 1)
    monkeypatch.setattr(bounds, "MOST_LOOKED_UP", request.param)


def index(similarity, **others):
    return pk.GraphIndex(kernel=KERNEL, similarity=similarity, **others).fit(GRAPHS)


def reference(index, queries, k, above):
    """The k most similar graphs of all."""
    answers = []
    for query in Query.all(index._counter.count(queries, None), index._measure):
        values = index._file.similarities(query)
        order = np.lexsort((np.arange(len(values)), -values))
        order = order[values[order] >= above][:k]
        answers.append((values[order], order))
    return answers


def assert_same(found, expected):
    for values, ids, (right_values, right_ids) in zip(*found, expected, strict=True):
        np.testing.assert_array_equal(ids, right_ids)
        np.testing.assert_array_equal(values, right_values)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("similarity", ["jaccard", "intersection"])
@pytest.mark.parametrize("k", [1, 2, 10, 70, 160])
def test_nearest_graphs(similarity, k):
    known = index(similarity)
    assert_same(known.query(QUERIES, k), reference(known, QUERIES, k, -1.0))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("similarity", ["jaccard", "intersection"])
@pytest.mark.parametrize("at_least", [0.0, 0.05, 0.3, 0.5, 0.7, 0.95, 1.0])
def test_thresholds(similarity, at_least):
    known = index(similarity)
    assert_same(known.query(QUERIES, at_least=at_least), reference(known, QUERIES, 999, at_least))
    assert_same(known.query(QUERIES, 3, at_least=at_least), reference(known, QUERIES, 3, at_least))


@pytest.mark.usefixtures("small")
def test_removed_graphs_are_not_found():
    known = index("jaccard").remove(range(0, 60, 2))
    for found in (known.query(QUERIES, 20), known.query(QUERIES, at_least=0.4)):
        for ids in found.ids:
            assert not set(ids.tolist()) & set(range(0, 60, 2))
    assert_same(known.query(QUERIES, 20), reference(known, QUERIES, 20, 0.0))


@pytest.mark.usefixtures("small")
def test_segments_agree():
    added = pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(GRAPHS[:120]).add(GRAPHS[120:])
    assert_same(added.query(QUERIES, 9), reference(index("jaccard"), QUERIES, 9, -1.0))
    assert_same(added.query(QUERIES, at_least=0.4), reference(index("jaccard"), QUERIES, 999, 0.4))


@pytest.mark.parametrize("least_graphs", [1, 50, 999])
@pytest.mark.parametrize("similarity", ["jaccard", "cosine"])
def test_later_graphs_are_those_after_a_graph(similarity, least_graphs, monkeypatch):
    monkeypatch.setattr(bounds, "LEAST_GRAPHS", least_graphs)
    known = (
        pk.GraphIndex(kernel=KERNEL, similarity=similarity).fit(GRAPHS[:90]).add(GRAPHS[90:]).remove([100])
    )
    for graph in range(0, 160, 3 if least_graphs > 1 else 1):
        (query,) = Query.all(known._counter.count(GRAPHS[[graph]], None), known._measure)
        values = known._file.similarities(query)
        for above in (0.3, 0.1, -1.0):
            expected = [i for i in range(graph + 1, 160) if values[i] > above]
            assert sorted(known._file.later(query, graph, above).tolist()) == expected
