"""Segments: the packed form of postings, from which the plain one comes back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels import _core
from propkernels._utils.arrays import offsets
from propkernels.counts.counters import StreamCounts
from propkernels.search.inverted_file import Segment, inverted, unpacked

GRAPHS = pk.datasets.make_molecules(60, random_state=0).graphs


def streams_of(counts, weight=1.0):
    matrix = csr_array(np.asarray(counts, dtype=np.float64))
    return StreamCounts(matrix, np.arange(matrix.shape[1])[::-1].copy(), 0, weight)


RARE = np.eye(9, 300)
CASES = {
    "molecules": pk.PropagationKernel(t_max=3, random_state=0).fit(GRAPHS)._counts,
    "rare": [streams_of(RARE)],
    "common": [streams_of(np.ones((9, 5)))],
    "both": [streams_of(np.hstack([RARE, np.ones((9, 5))])), streams_of(RARE[:, :5], 0.5)],
    "large counts": [streams_of([[300.0, 0.0], [2.0, 1.0]])],
    "large counts in words": [streams_of(np.hstack([600 * RARE, RARE]))],
    "large counts in rows and words": [
        streams_of(np.hstack([np.diag([1000.0, 600, 255, 256]), np.ones((4, 9))]))
    ],
    "larger counts": [streams_of([[2.0**24 + 1, 0.0], [2.0, 1.0]])],
    "fractions": [streams_of([[0.3, 0.0], [2.0, 1.0]])],
    "one graph": [streams_of([[3.0, 1.0]])],
    "no bins": [streams_of(np.zeros((3, 0)))],
    "no graphs": [streams_of(np.zeros((0, 2)))],
}


@pytest.mark.parametrize("streams", CASES.values(), ids=CASES)
def test_the_plain_form_comes_back(streams):
    plain = inverted(streams)
    again = unpacked([Segment.packed(plain)], [np.arange(plain.n_graphs)])
    for name in ("n_graphs", "stream_ptr", "codes", "bin_ptr", "graphs", "counts"):
        ours, theirs = np.asarray(getattr(again, name)), np.asarray(getattr(plain, name))
        assert np.array_equal(ours, theirs), name
        assert ours.dtype == theirs.dtype, name


@pytest.mark.parametrize(
    ("name", "kind", "has_rows"),
    [
        ("molecules", np.uint32, True),
        ("rare", np.uint32, False),
        ("common", np.uint32, True),
        ("large counts", np.uint32, True),
        ("large counts in words", np.uint32, False),
        ("large counts in rows and words", np.uint32, True),
        ("larger counts", np.float64, False),
        ("fractions", np.float64, False),
    ],
)
def test_postings_are_as_short_as_they_can_be(name, kind, has_rows):
    segment = Segment.of(CASES[name])
    assert segment.postings.dtype == kind
    assert (len(segment.dense_bins) > 0) == has_rows
    assert len(segment.postings) <= 2 * sum(stream.counts.nnz for stream in CASES[name])


@pytest.mark.parametrize("streams", CASES.values(), ids=CASES)
def test_parts_of_a_segment_fit_together(streams, monkeypatch):
    monkeypatch.setattr("propkernels.search.inverted_file.CHECKED_AT_ONCE", 3)
    Segment.of(streams)._check_parts()


def changed(values, place, value):
    copy = values.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize("at_once", [2, 2**20])
@pytest.mark.parametrize(
    ("case", "field", "place", "value", "message"),
    [
        ("molecules", "postings", -1, 2**31, "graphs of the segment"),
        ("molecules", "dense_bins", 0, 10**6, "dense bins ascend"),
        ("molecules", "codes", 1, -(2**63), "codes of a stream ascend"),
        ("large counts in words", "postings", 10, 1, "graphs ascend within a bin"),
        ("fractions", "postings", (0, 0), 0.5, "whole numbers"),
        ("fractions", "postings", (0, 0), 2, "graphs of the segment"),
        ("fractions", "postings", (0, 0), -1, "not negative"),
        ("fractions", "postings", (0, 1), np.nan, "not negative"),
    ],
)
def test_parts_that_do_not_fit_are_refused(case, field, place, value, message, at_once, monkeypatch):
    monkeypatch.setattr("propkernels.search.inverted_file.CHECKED_AT_ONCE", at_once)
    segment = Segment.of(CASES[case])
    forged = replace(segment, **{field: changed(getattr(segment, field), place, value)})
    with pytest.raises(ValueError, match=message):
        forged._check_parts()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("n_graphs", -1, "codes are missing"),
        ("dense", np.zeros((1, 3), dtype=np.uint8), "a cell per graph"),
        ("postings", np.zeros(4, dtype=np.uint16), "32-bit words"),
        ("postings", np.zeros(4), "pairs"),
        ("postings", np.zeros((4, 2)), "no dense rows"),
    ],
)
def test_arrays_of_another_shape_are_refused(field, value, message):
    segment = Segment.of(CASES["common"])
    with pytest.raises(ValueError, match=message):
        replace(segment, **{field: value})._check_parts()


BIN_PTR, OF_BINS = np.array([0, 2, 4]), np.array([0, 1, 1, 2], dtype=np.int32)
STREAMS = [[3, 5, 8, 9, 12], [], [-7, 5], [1, 2, 3, 4]]


def test_codes_are_found_in_their_stream():
    stream_ptr, codes = offsets([len(own) for own in STREAMS]), np.concatenate(STREAMS).astype(np.int64)
    wanted, streams = np.tile(np.arange(-8, 14), 4), np.repeat(np.arange(4), 22)
    bin_ptr, dense_bins = 2 * np.arange(len(codes) + 1), np.array([1, 6])
    first, last, rows = np.empty((3, len(wanted)), dtype=np.int64)
    _core.find_postings(wanted, streams, (stream_ptr, codes, bin_ptr, dense_bins), first, last, rows)
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
    _core.add_packed(ptr[rows], ptr[rows + 1], counts, words, packed)
    _core.add_pairs(ptr[rows], ptr[rows + 1], counts, pairs, paired)
    _core.add_rows(rows, counts, dense, 0, summed)
    for found in (packed, paired, summed):
        assert np.array_equal(found, expected)


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
    assert _core.count_words(BIN_PTR, counts, np.array([False, True]), found)
    assert found.tolist() == lengths
    dense, words = np.zeros((1, 3), dtype=np.uint8), np.empty(found.sum(), dtype=np.uint32)
    _core.pack_postings(BIN_PTR, OF_BINS, counts, np.array([-1, 0]), offsets(found), dense, words)
    totals = np.vstack([np.zeros(3), dense])
    np.add.at(totals, (np.repeat([0, 1], found), words >> 8), words & 255)
    assert totals.tolist() == [[*counts[:2], 0.0], [0.0, *counts[2:]]]


@pytest.mark.parametrize("count", [0.5, -1.0, np.nan, np.inf, 2.0**32])
def test_counts_that_words_cannot_hold_are_found(count):
    counts = np.array([1.0, 1.0, count, 1.0])
    assert not _core.count_words(BIN_PTR, counts, np.array([False, True]), np.zeros(2, dtype=np.int64))
