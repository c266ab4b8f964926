"""Counting codes, against dictionaries."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from propkernels._utils.parallel import workers
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.counts.counters import (
    CodeList,
    Occurrences,
    StreamCounts,
    add_column,
    count_lists,
    count_streams,
    counts_of_rows,
    rank_bins,
    stack_columns,
)

INT64 = np.iinfo(np.int64)


def streams_of(*rows):
    codes = np.array(rows, dtype=np.int64)
    return CodeStreams(codes, np.arange(len(codes)), np.full(len(codes), 0.5))


def dictionaries(codes, graph_ptr):
    """For each graph, code -> count."""
    return [Counter(int(c) for c in codes[a:b] if c != NO_BIN) for a, b in pairwise(graph_ptr)]


def as_dictionaries(stream):
    """The same from a count matrix."""
    result = []
    for first, last in pairwise(stream.counts.indptr):
        bins = stream.counts.indices[first:last]
        assert len(np.unique(bins)) == len(bins)
        result.append(
            Counter(
                dict(zip(stream.codes[bins].tolist(), stream.counts.data[first:last].tolist(), strict=True))
            )
        )
    return result


@st.composite
def coded_graphs(draw):
    code = st.one_of(st.integers(-3, 3), st.sampled_from([NO_BIN, INT64.max, INT64.min + 1, 2**40, 2**60]))
    graphs = draw(st.lists(st.lists(code, max_size=8), min_size=1, max_size=6))
    known = draw(st.lists(st.one_of(st.integers(-3, 3), st.just(2**60)), unique=True, max_size=5))
    ptr = np.cumsum([0, *map(len, graphs)])
    return (
        np.array([c for graph in graphs for c in graph], dtype=np.int64),
        ptr,
        np.array(known, dtype=np.int64),
    )


@given(coded_graphs())
def test_counts_are_those_of_dictionaries(case):
    codes, ptr, known = case
    reference = dictionaries(codes, ptr)
    for before in (None, [known]):
        (computed,) = count_streams([streams_of(codes)], ptr, before)
        assert as_dictionaries(computed) == reference
        assert len(np.unique(computed.codes)) == len(computed.codes)
        assert computed.counts.shape == (len(ptr) - 1, len(computed.codes))
    assert np.array_equal(computed.codes[: len(known)], known)
    assert set(computed.codes) == set(known.tolist()) | {c for graph in reference for c in graph}


def test_ranked_bins_do_not_depend_on_the_order_of_graphs():
    ptr, codes = np.array([0, 2, 5]), np.array([9, -4, 9, 3, 3])
    (stream,) = count_streams([streams_of(codes)], ptr)
    (swapped,) = count_streams([streams_of(codes[[2, 3, 4, 0, 1]])], np.array([0, 3, 5]))
    ours, theirs = rank_bins(stream), rank_bins(swapped)
    assert ours.codes.tolist() == theirs.codes.tolist() == [-4, 3, 9]
    assert (ours.iteration, ours.weight) == (stream.iteration, stream.weight) == (0, 0.5)
    assert np.array_equal(ours.counts.toarray(), theirs.counts.toarray()[::-1])


@pytest.mark.parametrize(
    ("numbers", "expected"), [(None, [2.0, 3.0, 1.0, 0.0]), (np.array([1.0, 3.0]), [2.0, 5.0, 3.0, 0.0])]
)
def test_nodes_of_an_item_share_its_value_equally(numbers, expected):
    items = Occurrences(np.array([7, 8]), np.array([[0, 1], [1, 2]]), 0, 1.0, numbers)
    assert items.by_node(np.array([4.0, 2.0]), 4).tolist() == expected


@pytest.mark.parametrize(
    ("counts", "codes", "iteration", "weight", "message"),
    [
        ([[1.0, -1.0]], [3, 4], 0, 1.0, "not negative"),
        ([[1.0, 2.0]], [3], 0, 1.0, "every column needs a code"),
        ([[1.0, 2.0]], [3, 4], -1, 1.0, "out of range"),
        ([[1.0, 2.0]], [3, 4], 0, np.inf, "out of range"),
        ([[1.0, 2.0]], [3, 4], 0, -0.5, "out of range"),
    ],
)
def test_stored_counts_are_checked(counts, codes, iteration, weight, message):
    stored = StreamCounts(csr_array(np.array(counts)), np.array(codes), iteration, weight)
    with pytest.raises(ValueError, match=message):
        stored._check_parts()


def test_columns_of_one_iteration_are_added():
    columns = {}
    for t, values in ((2, [1.0, 2.0]), (0, [5.0, 7.0]), (2, [0.25, 0.5])):
        add_column(columns, t, np.array(values))
    assert stack_columns(columns).tolist() == [[5.0, 1.25], [7.0, 2.5]]


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kinds", [3, 10**15], ids=["few bins", "many bins"])
def test_each_graph_counts_its_bins(kinds, n_jobs, monkeypatch):
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    codes = np.random.default_rng(0).integers(-kinds, kinds, (3, 20_000))
    codes[:, ::7] = NO_BIN
    graph_ptr = np.array([0, 0, 1, 6_000, 20_000])
    with workers(n_jobs):
        found = counts_of_rows(codes, np.arange(3), graph_ptr)
    for row, (counts, bins) in enumerate(found):
        assert len(set(bins.tolist())) == len(bins)
        assert as_dictionaries(StreamCounts(counts, bins, 0, 1.0)) == dictionaries(codes[row], graph_ptr)


GENERATOR = np.random.default_rng(0)


def random_list(n_graphs, n_codes):
    rows = [GENERATOR.permutation(n_codes)[: GENERATOR.integers(0, n_codes)] for _ in range(n_graphs)]
    codes = np.concatenate(rows).astype(np.int64) * 2**50
    counts = GENERATOR.integers(1, 9, len(codes)).astype(float)
    return CodeList.of(np.array([len(row) for row in rows]), codes, counts), codes, counts


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("known", [None, [7 * 2**50, 5, 0]])
def test_lists_stand_below_each_other(n_jobs, known):
    lists, codes, counts = zip(*(random_list(n, 12) for n in (3, 1, 4)), strict=True)
    known = None if known is None else np.array(known)
    with workers(n_jobs):
        stream = count_lists(lists, known)
    codes, counts = np.concatenate(codes), np.concatenate(counts)
    assert np.array_equal(stream.codes[stream.counts.indices], codes)
    assert np.array_equal(stream.counts.data, counts)
    assert np.array_equal(np.diff(stream.counts.indptr), np.concatenate([one.lengths for one in lists]))
    first = codes[np.sort(np.unique(codes, return_index=True)[1])]
    expected = first if known is None else np.concatenate([known, first[~np.isin(first, known)]])
    assert stream.codes.tolist() == expected.tolist()


def test_parts_of_a_graph_are_added():
    parts = [
        CodeList.of(np.array([len(codes)]), np.array(codes), np.array(counts))
        for codes, counts in (([9, 4], [1.0, 2.0]), ([], []), ([5, 9], [3.0, 4.0]))
    ]
    added = CodeList.added([part._replace(bins=part.bins.astype(np.int64)) for part in parts])
    assert added.lengths.tolist() == [3]
    assert added.bins[added.columns].tolist() == [9, 4, 5]
    assert added.counts.tolist() == [5.0, 2.0, 3.0]
