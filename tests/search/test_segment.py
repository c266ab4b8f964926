"""Segments: the packed form of postings, from which the plain one comes back."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.counts.counters import StreamCounts
from propkernels.search.segment import FENCE_WIDTH, Postings, Segment

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
    plain = Postings.of(streams)
    again = Segment.of(plain).stored()
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
    segment = Segment.of(Postings.of(CASES[name]))
    assert segment.postings.dtype == kind
    assert (len(segment.dense_bins) > 0) == has_rows
    assert segment.n_words <= 2 * sum(stream.counts.nnz for stream in CASES[name])


@pytest.mark.parametrize("streams", CASES.values(), ids=CASES)
def test_postings_are_counted_once(streams):
    assert Segment.of(Postings.of(streams)).n_entries() == sum(stream.counts.nnz for stream in streams)


def test_fences_are_codes_of_their_stream():
    segment = Segment.of(Postings.of(CASES["both"]))
    first = segment.fences[: segment.fence_ptr[1]]
    assert np.array_equal(first, segment.directory[: segment.stream_ptr[1] : FENCE_WIDTH, 0])
