"""Hashed columns."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from propkernels._utils import parallel
from propkernels._utils.parallel import workers
from propkernels._utils.randomness import mix
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.counts import columns
from propkernels.counts.columns import hashed_codes, hashed_columns, join_streams
from propkernels.counts.counters import StreamCounts, count_streams


def random_codes(n_nodes, weights, rows=None, salts=None):
    rng = np.random.default_rng(3)
    codes = rng.integers(-5, 40, (len(weights) if rows is None else max(rows) + 1, n_nodes))
    codes[rng.random(codes.shape) < 0.1] = NO_BIN
    iterations = np.arange(len(weights)) // 2
    shared = None if rows is None else np.array(rows)
    return CodeStreams(
        codes, iterations, np.array(weights), shared, None if salts is None else np.array(salts)
    )


def naive_columns(block, ptr, n_features):
    """Add the square root of the weight for each node, one by one."""
    dense, seen = np.zeros((len(ptr) - 1, n_features)), {}
    for t, weight, codes in block.streams():
        h = seen[t] = seen.get(t, -1) + 1
        for graph in range(len(ptr) - 1):
            for code in codes[ptr[graph] : ptr[graph + 1]]:
                if code != NO_BIN:
                    dense[graph, int(mix(t, h, np.array(code).view(np.uint64))) % n_features] += weight**0.5
    return dense


@pytest.mark.parametrize("n_features", [1, 8, 100, 2**16])
@pytest.mark.parametrize(
    "block",
    [
        random_codes(60, [1.0, 1.0, 1.0]),
        random_codes(60, [0.5, 0.5, 2.0]),
        random_codes(60, [1.0] * 3, [0, 1, 0], [NO_BIN, 7, 9]),
    ],
    ids=["equal weights", "other weights", "shared rows"],
)
def test_codes_are_hashed_without_counting(block, n_features):
    ptr = np.array([0, 3, 3, 40, 60])
    computed = hashed_codes([block], ptr, n_features)
    np.testing.assert_allclose(computed.toarray(), naive_columns(block, ptr, n_features))
    assert computed.has_sorted_indices
    assert computed.has_canonical_format


def test_counts_are_hashed_like_codes():
    block, ptr = random_codes(60, [1.0, 1.0, 1.0]), np.array([0, 3, 3, 40, 60])
    counted = hashed_columns(count_streams([block], ptr), 100)
    assert (counted != hashed_codes([block], ptr, 100)).nnz == 0


@pytest.mark.parametrize("sizes", [[1, 29_000, 3, 0, 5], [50] * 600])
@pytest.mark.parametrize("weights", [[1.0, 1.0], [1.0, 0.5]])
def test_every_cut_gives_the_same_bits(monkeypatch, sizes, weights):
    monkeypatch.setattr(parallel, "STEPS_OF_A_THREAD", 2**10)
    monkeypatch.setattr(columns, "ITEMS_OF_A_PIECE", 2**14)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    block = random_codes(int(ptr[-1]), weights)
    reference = hashed_codes([block], ptr, 500)
    with workers(4):
        computed = hashed_codes([block], ptr, 500)
    for name in ("data", "indices", "indptr"):
        assert getattr(reference, name).tobytes() == getattr(computed, name).tobytes()


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("width", [5, 700])
def test_streams_stand_side_by_side(width, n_jobs, monkeypatch):
    monkeypatch.setattr(parallel, "STEPS_OF_A_THREAD", 1)
    parts = [np.random.default_rng(0).integers(0, 3, (4, n)).astype(float) for n in (width, 3)]
    streams = []
    for part in parts:
        counts = csr_array(part[:, ::-1])  # rows whose columns descend
        counts.indices = (part.shape[1] - 1 - counts.indices).astype(np.int32)
        counts.has_sorted_indices = False
        streams.append(StreamCounts(counts, np.arange(part.shape[1]), 0, 1.0))
    with workers(n_jobs):
        joined = join_streams(streams, [width - 1, 3], [2.0, 1.0])
    np.testing.assert_array_equal(joined.toarray(), np.hstack([2 * parts[0][:, :-1], parts[1]]))
    assert joined.has_canonical_format
