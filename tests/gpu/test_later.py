"""Counts that are computed when they are first read."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.sparse import csr_array

from propkernels.counts.counters import StreamCounts
from propkernels.gpu.transfer import later_streams


def streams_and_calls():
    calls = []

    def compute():
        calls.append(1)
        return [StreamCounts(csr_array([[t + 1.0]]), np.array([t + 7]), t, 0.5) for t in range(2)]

    return later_streams(compute, [0, 1], [0.5, 0.5]), calls


def test_counts_are_computed_once_and_only_when_they_are_read():
    streams, calls = streams_and_calls()
    assert [(stream.iteration, stream.weight) for stream in streams] == [(0, 0.5), (1, 0.5)]
    assert not calls
    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(lambda k: streams[k % 2].codes.tolist(), range(8)))
    assert codes == [[7], [8]] * 4
    assert [stream.counts.toarray().item() for stream in streams] == [1.0, 2.0]
    assert calls == [1]


def test_what_is_pickled_or_stored_is_plain():
    streams, _ = streams_and_calls()
    for plain in (pickle.loads(pickle.dumps(streams))[1], streams[1].stored()):
        assert type(plain) is StreamCounts
        assert (plain.codes.tolist(), plain.iteration, plain.weight) == ([8], 1, 0.5)
