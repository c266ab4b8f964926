"""Loops over a segment: codes are found where they are, and products add up as in plain Python."""

import numpy as np
import pytest

from propkernels._utils.arrays import offsets
from propkernels.search.segment_compiled import (
    add_packed,
    add_pairs,
    add_rows,
    count_postings,
    count_words,
    find_postings,
    invert_rows,
    move_postings,
    pack_postings,
)

pytestmark = pytest.mark.compiled
BIN_PTR, GRAPHS, COUNTS = np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.array([2.0, 1.0, 3.0, 1.0])
STREAMS = [[3, 5, 8, 9, 12], [], [-7, 5], [1, 2, 3, 4]]


def test_codes_are_found_in_their_stream():
    stream_ptr, codes = offsets([len(own) for own in STREAMS]), np.concatenate(STREAMS).astype(np.int64)
    wanted, streams = np.tile(np.arange(-8, 14), 4), np.repeat(np.arange(4), 22)
    bin_ptr, dense_bins = 2 * np.arange(len(codes) + 1), np.array([1, 6])
    first, last, rows = np.empty((3, len(wanted)), dtype=np.int64)
    find_postings(wanted, streams, stream_ptr, codes, bin_ptr, dense_bins, first, last, rows)
    for code, stream, found in zip(wanted, streams, zip(first, last, rows, strict=True), strict=True):
        known = STREAMS[stream]
        b = stream_ptr[stream] + known.index(code) if code in known else None
        assert found == ((0, 0, -1) if b is None else (2 * b, 2 * b + 2, {1: 0, 6: 1}.get(b, -1)))


def test_lists_and_rows_add_up_to_the_same():
    random = np.random.default_rng(0)
    dense = random.integers(0, 3, size=(5, 3000), dtype=np.uint8)
    counts, rows = random.integers(1, 9, size=3).astype(float), np.array([4, 0, 2])
    expected = counts @ dense[rows].astype(float)
    bins, graphs = np.nonzero(dense)
    ptr = offsets(np.count_nonzero(dense, axis=1))
    values = dense[bins, graphs]
    words = graphs.astype(np.uint32) << np.uint32(8) | values
    pairs = np.stack([graphs, values], axis=1).astype(float)
    packed, paired, summed = np.zeros(3000), np.zeros(3000), np.zeros(3000)
    add_packed(ptr[rows], ptr[rows + 1], counts, words, packed)
    add_pairs(ptr[rows], ptr[rows + 1], counts, pairs, paired)
    add_rows(rows, counts, dense, summed)
    for found in (packed, paired, summed):
        assert np.array_equal(found, expected)


def test_postings_move_to_their_targets():
    targets, number = np.array([1, 1]), np.array([0, -1, 1])
    lengths = np.zeros(2, dtype=np.int64)
    count_postings(BIN_PTR, GRAPHS, targets, number, lengths)
    assert lengths.tolist() == [0, 2]
    graphs, counts, filled = np.empty(2, dtype=np.int64), np.empty(2), np.zeros(2, dtype=np.int64)
    move_postings(BIN_PTR, GRAPHS, COUNTS, targets, number, filled, graphs, counts)
    assert graphs.tolist() == [0, 1]
    assert counts.tolist() == [2.0, 1.0]
    assert filled.tolist() == [0, 2]


def test_rows_become_postings():
    graphs, counts, filled = np.empty(4, dtype=np.int64), np.empty(4), BIN_PTR[:-1].copy()
    rows = (np.array([0, 1, 3, 4]), np.array([1, 1, 0, 0]), np.array([2.0, 1.0, 3.0, 1.0]))
    invert_rows(*rows, np.array([1, 0]), filled, graphs, counts)
    assert graphs.tolist() == GRAPHS.tolist()
    assert counts.tolist() == COUNTS.tolist()
    assert filled.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("counts", "lengths"),
    [
        ([1.0, 255.0, 1.0, 255.0], [2, 0]),
        ([256.0, 510.0, 256.0, 510.0], [4, 2]),
        ([600.0, 0.0, 600.0, 0.0], [4, 2]),
    ],
)
def test_counts_are_sums_of_bytes(counts, lengths):
    found, counts = np.zeros(2, dtype=np.int64), np.array(counts)
    assert count_words(BIN_PTR, counts, np.array([False, True]), found)
    assert found.tolist() == lengths
    dense, words = np.zeros((1, 3), dtype=np.uint8), np.empty(found.sum(), dtype=np.uint32)
    pack_postings(BIN_PTR, GRAPHS, counts, np.array([-1, 0]), offsets(found), dense, words)
    totals = np.vstack([np.zeros(3), dense])
    np.add.at(totals, (np.repeat([0, 1], found), words >> 8), words & 255)
    assert totals.tolist() == [[*counts[:2], 0.0], [0.0, *counts[2:]]]


@pytest.mark.parametrize("count", [0.5, -1.0, np.nan, np.inf, 2.0**32])
def test_counts_that_words_cannot_hold_are_found(count):
    counts = np.array([1.0, 1.0, count, 1.0])
    assert not count_words(BIN_PTR, counts, np.array([False, True]), np.zeros(2, dtype=np.int64))
