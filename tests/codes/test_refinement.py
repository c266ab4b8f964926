"""Codes of refinements: equal exactly where the multisets of neighbors are."""

import numpy as np
import pytest

from propkernels._utils.parallel import workers
from propkernels._utils.randomness import OTHER_FACTOR, mix
from propkernels.codes.codes import ANY_OTHER, NO_BIN, as_streams, multiset_codes
from tests.zoo import undirected_zoo

GRAPHS = undirected_zoo()
KEYS = np.unique(GRAPHS.node_labels, return_inverse=True)[1].astype(np.uint64)


@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize("entries", [0, 2**16])
def test_threads_do_not_matter(monkeypatch, labeled, entries):
    """Without a least number of entries, threads share the nodes of the larger graphs."""
    edges = (np.arange(GRAPHS.adjacency.nnz) % 3).astype(np.uint64) if labeled else None
    expected = multiset_codes(GRAPHS, KEYS, edges, 3).codes
    monkeypatch.setattr("propkernels.codes.codes.NODES_IN_CACHE", 16)
    monkeypatch.setattr("propkernels.codes.codes.ENTRIES_OF_A_LARGE_GRAPH", entries)
    monkeypatch.setattr("propkernels.codes.codes.threads_for", lambda work: 3)
    with workers(3):
        np.testing.assert_array_equal(multiset_codes(GRAPHS, KEYS, edges, 3).codes, expected)


def test_the_word_for_not_counted_is_replaced():
    codes = np.array([[5, 0]], dtype=np.uint64)
    codes.view(np.int64)[0, 1] = NO_BIN
    streams = as_streams(codes)
    assert streams.codes.tolist() == [[5, ANY_OTHER]]
    assert streams.iterations.tolist() == [0]


def mix_other(word):
    """The second hash function, in whole numbers of Python."""
    for _ in range(2):
        word = (word ^ (word >> 32)) * int(OTHER_FACTOR) % 2**64
    return word ^ (word >> 32)


@pytest.mark.parametrize("labeled", [False, True])
def test_refinement_adds_up_mixed_neighbors(labeled):
    a, generator = GRAPHS.adjacency, np.random.default_rng(0)
    keys = generator.integers(0, 2**63, a.nnz).astype(np.uint64) if labeled else None
    start = generator.integers(0, 2**63, GRAPHS.n_nodes).astype(np.uint64)
    codes = multiset_codes(GRAPHS, start, keys, 2).codes.view(np.uint64)
    for t in (1, 2):
        for i in range(GRAPHS.n_nodes):
            total = int(mix(codes[t - 1, i]))
            for entry in range(a.indptr[i], a.indptr[i + 1]):
                word = mix_other(int(codes[t - 1, a.indices[entry]]))
                total += word if keys is None else int(mix(np.uint64(word) ^ keys[entry]))
            assert codes[t, i] == mix(np.uint64(total % 2**64))
