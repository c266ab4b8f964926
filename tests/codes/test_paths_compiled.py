"""The compiled loops over shortest paths against searches that list every path."""

from collections import Counter

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes.distances import path_lengths
from propkernels.codes.hops_compiled import count_hops, most_hops
from propkernels.codes.paths_compiled import hop_words, path_words, round_lengths

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)
SQUARE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


def some_graphs(largest_weight=1):
    graphs = [np.zeros((1, 1)), SQUARE]
    for n in (6, 30):
        upper = np.triu(GENERATOR.random((n, n)) < 2 / n, 1) * GENERATOR.integers(
            1, largest_weight + 1, (n, n)
        )
        graphs.append((upper + upper.T).astype(float))
    return pk.check_graphs(graphs)


def shortest_paths(graphs, graph, source):
    """All shortest paths from a node, as tuples of nodes."""
    adjacency = graphs[graph].adjacency.toarray()
    best, found = {source: 0.0}, {source: [(source,)]}
    for _ in range(len(adjacency)):
        for u in list(best):
            for v in np.flatnonzero(adjacency[u]):
                best[v] = min(best.get(v, np.inf), best[u] + adjacency[u, v])
    for u in sorted(best, key=best.get):
        for v in np.flatnonzero(adjacency[u]):
            if best[u] + adjacency[u, v] == best[v]:
                found.setdefault(v, []).extend((*path, int(v)) for path in found[u])
    return best, found


@pytest.mark.parametrize("largest_weight", [1, 3])
def test_lengths_and_hops(largest_weight):
    graphs = some_graphs(largest_weight)
    lengths = path_lengths(graphs, True)
    a = graphs.adjacency
    for graph, n in enumerate(graphs.graph_sizes):
        distances = lengths.distances[lengths.pair_ptr[graph] : lengths.pair_ptr[graph + 1]]
        expected, longest, hops = np.full((n, n), np.inf), 0, Counter()
        for source in range(n):
            best, paths = shortest_paths(graphs, graph, source)
            for v, length in best.items():
                expected[source, v] = length
            for path in (path for ends in paths.values() for path in ends):
                longest = max(longest, len(path) - 1)
                hops.update((v, place, len(path) - 1) for place, v in enumerate(path))
        np.testing.assert_array_equal(distances.reshape(n, n), expected)
        arguments = (a.indptr, a.indices, lengths.weights, graphs.graph_ptr[graph], n, distances)
        assert most_hops(*arguments) == longest
        counts = np.zeros((n, longest + 1, longest + 1))
        for root in range(0, n, 2):  # roots in parts
            count_hops(*arguments, root, root + 2, np.arange(n), counts)
        assert {tuple(map(int, at)): counts[tuple(at)] for at in np.argwhere(counts)} == hops


def test_sums_in_another_order_have_one_length():
    values = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, np.inf, 0.0, 0.6 + 1e-6])
    round_lengths(values)
    assert values[0] == values[1] != values[4]
    assert values[2:4].tolist() == [np.inf, 0.0]


def test_words_of_paths_tell_edge_labels_in_order():
    """Around a square, the two ways to the far corner are taken together, whichever comes first."""
    graphs = pk.check_graphs([SQUARE, SQUARE])
    lengths = path_lengths(graphs, True)
    a, words = graphs.adjacency, np.empty(32, dtype=np.uint64)
    rows, columns = a.tocoo().coords
    labels = {frozenset((0, 1)): 1, frozenset((1, 2)): 2, frozenset((2, 3)): 3, frozenset((3, 0)): 4}
    turned = {frozenset((0, 1)): 2, frozenset((1, 2)): 1, frozenset((2, 3)): 4, frozenset((3, 0)): 3}
    keys = np.array(
        [
            (labels if i < 4 else turned)[frozenset((i % 4, j % 4))]
            for i, j in zip(rows, columns, strict=True)
        ],
        dtype=np.uint64,
    )
    pointers = (graphs.graph_ptr, lengths.pair_ptr, 0, graphs.n_nodes, lengths.distances)
    path_words(a.indptr, a.indices, lengths.weights, keys, *pointers, words)
    first, second = words.reshape(2, 4, 4)
    assert (np.diag(first) == 1).all()
    assert first[0, 2] == second[2, 0]  # labels 1 2 and 4 3, in the other graph from the other corner
    assert first[0, 2] != second[0, 2]
    assert first[0, 2] != first[2, 0]
    again = np.empty(32, dtype=np.uint64)
    hop_words(a.indptr, a.indices, keys, *pointers[:2], 0, 3, again)
    hop_words(a.indptr, a.indices, keys, *pointers[:2], 3, graphs.n_nodes, again)
    assert np.array_equal(again, words)


def test_words_of_edges_of_length_1_need_no_distances():
    graphs = some_graphs(1)
    lengths, a, n_pairs = (
        path_lengths(graphs, True),
        graphs.adjacency,
        int(np.square(graphs.graph_sizes).sum()),
    )
    words, again = np.empty((2, n_pairs), dtype=np.uint64)
    keys = np.random.default_rng(0).integers(0, 3, a.nnz).astype(np.uint64)
    pointers = (graphs.graph_ptr, lengths.pair_ptr, 0, graphs.n_nodes)
    path_words(a.indptr, a.indices, lengths.weights, keys, *pointers, lengths.distances, words)
    hop_words(a.indptr, a.indices, keys, *pointers, again)
    assert lengths.has_hops
    assert np.array_equal(again, words)
