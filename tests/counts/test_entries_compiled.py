"""Tables of bins, entries and their decisions, against dictionaries and dense counts."""

from collections import Counter

import numpy as np
import pytest

from propkernels._utils.jit import as_python
from propkernels.codes.codes import NO_BIN
from propkernels.counts import entries_compiled
from propkernels.counts.entries_compiled import BinTable

pytestmark = pytest.mark.compiled
KNOWN = [np.array([7, -3, 12], dtype=np.int64), np.array([12, 5], dtype=np.int64)]


def entered(codes, ptr):
    """Sizes, columns, counts and places of the codes, (streams, items), of graphs with these offsets."""
    codes, ptr = np.array(codes, dtype=np.int64), np.array(ptr, dtype=np.int64)
    n_streams, n_items = codes.shape
    room = np.empty(16, np.int64), np.empty(16, np.int64), np.zeros(16, np.int64)
    sizes = np.zeros((n_streams, len(ptr) - 1), dtype=np.int64)
    columns, places = np.empty((2, n_streams, n_items), dtype=np.int32)
    counts = np.empty((n_streams, n_items))
    table = BinTable.of(KNOWN)
    entries_compiled.enter_codes(codes, 0, ptr, table, *room, sizes, columns, counts, places)
    return sizes, columns, counts, places


def test_columns_of_codes():
    table = BinTable.of(KNOWN)
    for stream, expected in ((0, [0, 1, 2, -1, -1]), (1, [-1, -1, 3, 4, -1])):
        found = np.empty(5, dtype=np.int32)
        entries_compiled.find_columns(table, stream, np.array([7, -3, 12, 5, 99]), found)
        assert found.tolist() == expected


def test_many_codes_are_found_again():
    codes = np.random.default_rng(0).integers(-(2**62), 2**62, 300)
    found = np.empty(300, dtype=np.int32)
    entries_compiled.find_columns(BinTable.of([codes]), 0, codes, found)
    assert found.tolist() == list(range(300))


def test_entries_are_the_bins_of_each_graph():
    codes = [[7, 7, 99, 12, NO_BIN, 7], [5, 5, 5, 12, 12, 12]]
    sizes, columns, counts, places = entered(codes, [0, 3, 6])
    assert sizes.tolist() == [[2, 2], [1, 1]]
    for stream, row in enumerate(codes):
        for graph, first in enumerate((0, 3)):
            wanted = Counter(code for code in row[first : first + 3] if code != NO_BIN)
            part = slice(first, first + sizes[stream, graph])
            assert sorted(counts[stream, part]) == sorted(wanted.values())
            known = {code: i + (3 if stream else 0) for i, code in enumerate(KNOWN[stream].tolist())}
            assert sorted(columns[stream, part]) == sorted(known.get(code, -1) for code in wanted)
    assert places[0, 0] == places[0, 1] != places[0, 2]  # the two nodes of code 7
    assert places[0, 4] == -1


def test_squared_lengths():
    sizes, _, counts, _ = entered([[7, 7, 99, 12, 12, 12], [5, 5, 5, 12, 12, 5]], [0, 3, 6])
    starts = np.array([[0, 3], [6, 9]])
    for assigned, expected in ((False, [5 + 0.5 * 9, 9 + 0.5 * 5]), (True, [3 + 0.5 * 3, 3 + 0.5 * 3])):
        squares = np.zeros(2)
        entries_compiled.square_lengths(
            starts, sizes, counts.ravel(), np.array([1.0, 0.5]), assigned, squares
        )
        assert squares.tolist() == expected


def test_shares_of_nodes_add_up_to_the_values_of_their_bins():
    _, _, counts, places = entered([[7, 7, 99, 12, NO_BIN, 7]], [0, 3, 6])
    values = np.arange(1.0, 7.0)
    shares = np.zeros((6, 1))
    entries_compiled.share_out(places, 6, np.zeros(1, dtype=np.int64), counts.ravel(), values, shares)
    own = {0: [0, 1], 1: [2], 3: [3], 4: [5]}
    for slot, nodes in own.items():
        assert shares[nodes, 0].tolist() == [values[slot] / len(nodes)] * len(nodes)
    assert shares[4, 0] == 0


def test_shares_of_counts_in_bins_that_folds_have_not_seen():
    starts, sizes = np.array([[0, 3, 5]]), np.array([[3, 2, 0]])  # the third graph has no entries
    columns, counts = np.array([0, 1, -1, 1, 2], dtype=np.int32), np.array([1.0, 2.0, 5.0, 3.0, 1.0])
    is_training = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.uint8)  # graphs by folds
    seen = np.zeros((3, 2), dtype=np.uint8)
    entries_compiled.mark_bins(starts, sizes, columns, is_training, seen)
    assert seen.tolist() == [[1, 0], [1, 1], [0, 1]]
    shares = np.full((3, 2), np.nan)
    entries_compiled.share_unseen(starts, sizes, columns, counts, seen, shares)
    assert shares.tolist() == [[5 / 8, 6 / 8], [1 / 4, 0.0], [1.0, 1.0]]


def as_plain(function):
    """A helper as Python, without waiting for the compiler."""
    return as_python(function) if hasattr(function, "py_func") else function


def agreement(count, numbers, assigned):
    return np.minimum(count, numbers) if assigned else count * numbers


@pytest.mark.parametrize("assigned", [False, True])
@pytest.mark.parametrize("n", [0, 1, 4, 7, 12])
def test_weights_are_sums_of_factors_times_agreements(n, assigned):
    rng = np.random.default_rng(n)
    graphs, numbers, factors = rng.integers(0, 5, n + 2), rng.integers(1, 9, n + 2), rng.normal(size=5)
    computed = as_plain(entries_compiled._weight_of)(3, 1, n + 1, graphs, numbers, assigned, factors)
    expected = (factors[graphs] * agreement(3, numbers, assigned))[1 : n + 1].sum()
    assert computed == pytest.approx(expected)
