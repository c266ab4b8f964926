"""Compiled counts of triplets against all pairs of nodes."""

from collections import Counter

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes.codes import NO_BIN
from propkernels.codes.distances import path_lengths
from propkernels.codes.paths_compiled import triplet_codes
from propkernels.codes.triplets_compiled import Search, count_triplets
from tests.codes.test_paths_compiled import GENERATOR, some_graphs

pytestmark = pytest.mark.compiled


def test_triplets_are_those_of_all_pairs():
    graphs = some_graphs()
    keys = np.array([7, 2**63 + 1, 5], dtype=np.uint64)
    ids = GENERATOR.integers(0, 3, graphs.n_nodes)
    lengths = path_lengths(graphs, True)
    codes = np.empty(lengths.pair_ptr[-1], dtype=np.int64)
    where = graphs.graph_ptr, lengths.pair_ptr, 0, graphs.n_nodes
    triplet_codes(keys[ids], lengths.words(), *where, codes, NO_BIN)
    a = graphs.adjacency
    room = Search.room(int(graphs.graph_sizes.max()), len(keys))
    arrays = a.indptr, a.indices, graphs.graph_ptr, ids, np.ones_like(ids), keys
    sizes, found, counts = count_triplets(*arrays, 0, 1, room)
    ends = np.cumsum([0, *sizes])
    for graph in range(len(graphs)):
        pairs = codes[lengths.pair_ptr[graph] : lengths.pair_ptr[graph + 1]]
        part = slice(ends[graph], ends[graph + 1])
        assert dict(zip(found[part], counts[part], strict=True)) == Counter(pairs[pairs != NO_BIN])


def test_triplets_outgrow_their_arrays():
    n = 40
    ring = np.roll(np.eye(n), 1, axis=1)
    graphs = pk.check_graphs([ring + ring.T])
    a, room = graphs.adjacency, Search.room(n, n)
    ids, keys = np.arange(n), np.arange(n, dtype=np.uint64)
    arrays = a.indptr, a.indices, graphs.graph_ptr, ids, np.ones_like(ids), keys
    sizes, codes, counts = count_triplets(*arrays, 0, 1, room)
    assert sizes.tolist() == [n * (n - 1)] == [len(set(codes.tolist()))]
    assert (counts == 1).all()


@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_parts_of_the_start_nodes_add_up(n_parts):
    graphs = some_graphs()
    keys, ids = np.arange(3, dtype=np.uint64), np.arange(graphs.n_nodes) % 3
    edges, n = (graphs.adjacency.indptr, graphs.adjacency.indices), int(graphs.graph_sizes.max())
    for graph in range(len(graphs)):
        one = *edges, graphs.graph_ptr[graph : graph + 2], ids, np.ones_like(ids), keys
        whole = count_triplets(*one, 0, 1, Search.room(n, 3))
        parts = [count_triplets(*one, part, n_parts, Search.room(n, 3)) for part in range(n_parts)]
        codes, counts = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        assert list(dict.fromkeys(codes.tolist())) == whole[1].tolist()
        totals = Counter()
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            totals[code] += count
        assert [totals[code] for code in whole[1].tolist()] == whole[2].tolist()
