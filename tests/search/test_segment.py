"""Segments: the packed form of postings, from which the plain one comes back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
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
    "large counts in words": [streams_of(np.hstack([600 * RARE, 510 * RARE, RARE]))],
    "large counts in rows and words": [
        streams_of(np.hstack([np.diag([1000.0, 600, 255, 510]), np.ones((4, 9))]))
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
    packed = Segment.packed(plain)
    assert len(packed.postings) <= 2 * plain.bin_ptr[-1]
    again = unpacked([packed], [np.arange(plain.n_graphs)])
    for name in ("n_graphs", "stream_ptr", "codes", "bin_ptr", "graphs", "counts"):
        ours, theirs = np.asarray(getattr(again, name)), np.asarray(getattr(plain, name))
        assert np.array_equal(ours, theirs), name
        assert ours.dtype == theirs.dtype, name


@pytest.mark.parametrize("streams", CASES.values(), ids=CASES)
def test_parts_of_a_segment_fit_together(streams, monkeypatch):
    monkeypatch.setattr("propkernels.search.inverted_file.POSTINGS_AT_ONCE", 3)
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
    monkeypatch.setattr("propkernels.search.inverted_file.POSTINGS_AT_ONCE", at_once)
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
