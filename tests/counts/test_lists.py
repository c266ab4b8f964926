"""Counts that are listed run by run, against one dictionary per graph."""

import numpy as np
import pytest

from propkernels._utils.parallel import workers
from propkernels.counts.counters import CodeList, count_lists, numbered

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


def test_numbers_of_no_codes():
    numbers, bins = numbered(np.empty(0, dtype=np.int64))
    assert len(numbers) == len(bins) == 0
