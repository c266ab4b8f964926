"""Hashed columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.counting.columns import hashed_columns
from propkernels.counting.counters import StreamCounts
from tests.zoo import labelled_zoo


def stream(counts, codes, iteration=0):
    return StreamCounts(
        csr_array(np.array(counts, dtype=float)), np.array(codes, dtype=np.int64), iteration, 1.0
    )


def test_rows_keep_their_sums():
    streams = [stream([[1, 2], [0, 3]], [5, -8], 0), stream([[4], [1]], [5], 1)]
    for width in (1, 2, 7, 2**20):
        computed = hashed_columns(streams, width)
        assert computed.shape == (2, width)
        assert computed.sum(axis=1).tolist() == [7, 4]
    assert hashed_columns(streams, 1).toarray().tolist() == [[7], [4]]


def test_a_bin_has_one_column_whatever_is_beside_it():
    alone = hashed_columns([stream([[2]], [77], 3)], 1000).toarray()
    both = hashed_columns([stream([[1]], [4], 1), stream([[5, 2]], [12, 77], 3)], 1000).toarray()
    assert both[0, alone[0].argmax()] == 2


def test_iterations_and_hashes_have_columns_of_their_own():
    streams = [stream([[1]], [9], t) for t in (0, 0, 1, 1, 2)]
    assert hashed_columns(streams, 2**20).nnz == 5


def test_more_columns_than_32_bits_can_number():
    computed = hashed_columns([stream([[1] * 50], range(50))], 2**40)
    assert computed.shape == (1, 2**40)
    assert computed.nnz == 50
    assert 2**32 < computed.indices.max() < 2**40
    assert computed.indices.min() >= 0


def test_columns_are_used_evenly():
    computed = hashed_columns([stream([[1] * 20_000], range(20_000))], 100).toarray()[0]
    assert abs(computed - 200).max() < 6 * np.sqrt(200)


@pytest.mark.parametrize("n_hashes", [1, 3])
def test_no_vocabulary_is_needed(n_hashes):
    train, new = labelled_zoo()[:3], labelled_zoo()[3:]
    features = pk.PropagationFeatures(n_features=2**20, n_hashes=n_hashes, random_state=0)
    reference = features.fit(labelled_zoo()).transform(new)
    computed = features.fit(train).transform(new)
    assert (computed != reference).nnz == 0
    assert computed.shape == (len(new), 2**20)
    assert np.allclose(computed.sum(axis=1) / np.sqrt(1 / n_hashes), 11 * n_hashes * new.graph_sizes)
