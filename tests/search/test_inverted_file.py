"""InvertedFile: several segments equal one, and added and removed graphs."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Query, Search, nearest
from tests.search.test_segment import CASES


def test_segments_are_as_good_as_one():
    graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    streams = CASES["molecules"]
    counter = pk.PropagationKernel(t_max=3, random_state=0).fit(graphs)._counter
    parts = [InvertedFile.of(counter.count(graphs[i : i + 9], None)) for i in range(0, 60, 9)]
    alive = np.arange(60) % 7 > 0
    one = InvertedFile.of(streams)
    whole = InvertedFile(one.segments, one.weights, one.squares, alive)
    for query in Query.all(streams)[::10]:
        places = np.cumsum([0, *(len(part.squares) for part in parts)])
        searches = [
            Search(part.segments[0], part.squares, query, first, alive[first : first + len(part.squares)])
            for part, first in zip(parts, places, strict=False)
        ]
        found = nearest(searches, 12)
        for ours, theirs in zip(found, nearest(whole.searches(query), 12), strict=True):
            assert np.array_equal(ours, theirs)
        assert alive[found[1]].all()


def test_a_query_of_another_kernel_is_refused():
    file = InvertedFile.of(CASES["both"])
    with pytest.raises(ValueError, match="another kernel"):
        file.similarities(Query.all(CASES["rare"])[0])


def test_added_and_removed_graphs_leave_the_old_file_unchanged():
    graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    counter = pk.PropagationKernel(t_max=2, random_state=0).fit(graphs)._counter
    query = Query.all(counter.count(graphs[:1], None))[0]
    file = InvertedFile.of(counter.count(graphs[:12], None))
    before = file.similarities(query)
    grown = file.append(counter.count(graphs[12:], None))
    whole = InvertedFile.of(counter.count(graphs, None)).similarities(query)
    assert np.array_equal(grown.similarities(query), whole)
    left, is_renumbered = grown.drop(np.array([3, 5]))
    assert not is_renumbered
    assert left.similarities(query)[[3, 5]].tolist() == [-1.0, -1.0]
    assert np.array_equal(left.places(), np.delete(np.arange(20), [3, 5]))
    assert np.array_equal(file.similarities(query), before)


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
