"""The compiled loops of counting against collections.Counter."""

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_array

from propkernels.codes.codes import NO_BIN
from propkernels.counts.columns import join_streams
from propkernels.counts.counters import StreamCounts, counts_of_rows
from propkernels.counts.counts_compiled import find_known, sort_rows

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize("kinds", [3, 10**15], ids=["few bins", "many bins"])
def test_each_graph_counts_its_bins(kinds):
    codes = GENERATOR.integers(-kinds, kinds, (3, 200))
    codes[:, ::7] = NO_BIN
    graph_ptr = np.array([0, 0, 1, 60, 200])
    for row, (counts, bins) in enumerate(counts_of_rows(codes, np.arange(3), graph_ptr, None)):
        assert len(set(bins.tolist())) == len(bins)
        for graph in range(4):
            nodes = codes[row, graph_ptr[graph] : graph_ptr[graph + 1]]
            entries = slice(counts.indptr[graph], counts.indptr[graph + 1])
            found = dict(zip(bins[counts.indices[entries]].tolist(), counts.data[entries], strict=True))
            assert found == Counter(nodes[nodes != NO_BIN].tolist())


def test_colliding_codes_are_told_apart():
    """Codes that share the low bits of their mixed code begin at the same slot."""
    codes = np.arange(32, dtype=np.int64) << 58
    ((counts, bins),) = counts_of_rows(codes[None, :], np.zeros(1, dtype=np.int64), np.array([0, 32]), None)
    assert sorted(bins.tolist()) == sorted(codes.tolist())
    assert counts.sum() == 32


def test_known_codes_are_found():
    codes = np.array([5, -3, 70, 2**50])
    assert find_known(codes, np.array([70, 8, 5])).tolist() == [2, -1, 0, -1]
    assert find_known(codes[:0], np.array([70])).tolist() == []


@pytest.mark.parametrize("length", [0, 1, 5, 64, 65, 200])
def test_rows_are_sorted_by_column(length):
    indices = GENERATOR.permutation(300)[: 2 * length].astype(np.int32)
    counts = indices * 2.0
    sort_rows(np.array([0, length, 2 * length], dtype=np.int32), indices, counts)
    assert (np.diff(indices[:length]) > 0).all()
    assert (np.diff(indices[length:]) > 0).all()
    np.testing.assert_array_equal(counts, indices * 2.0)


def test_streams_stand_side_by_side():
    parts = [GENERATOR.integers(0, 3, (4, width)).astype(float) for width in (5, 3)]
    streams = [StreamCounts(csr_array(part), np.arange(part.shape[1]), 0, 1.0) for part in parts]
    joined = join_streams(streams, [4, 3], [2.0, 1.0])
    np.testing.assert_array_equal(joined.toarray(), np.hstack([2 * parts[0][:, :4], parts[1]]))
    assert joined.has_sorted_indices
