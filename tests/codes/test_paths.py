"""The compiled loops over shortest paths against searches that list every path."""

from collections import Counter, defaultdict

import numpy as np
import pytest

import propkernels as pk
from propkernels import _core
from propkernels._utils.parallel import workers
from propkernels.codes.codes import NO_BIN
from propkernels.codes.distances import path_lengths
from propkernels.kernels.graph_hopper import HopCounter, Hopped, _node_matrices
from propkernels.kernels.shortest_path import TripletCoder

GENERATOR = np.random.default_rng(0)
SQUARE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


def some_graphs(largest_weight=1):
    graphs = [np.zeros((1, 1)), SQUARE]
    for n in (6, 30):
        upper = np.triu(GENERATOR.random((n, n)) < 2 / n, 1) * GENERATOR.integers(
            1, largest_weight + 1, (n, n)
        )
        graphs.append((upper + upper.T).astype(float))
    return pk.check_graphs([(graph, GENERATOR.integers(0, 3, len(graph))) for graph in graphs])


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


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("largest_weight", [1, 3])
def test_lengths_and_hops(largest_weight, n_jobs, monkeypatch):
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    graphs = some_graphs(largest_weight)
    with workers(n_jobs):
        hops, matrices = Hopped.of(graphs, True), list(_node_matrices(graphs, True))
    lengths = hops.paths
    for graph, n in enumerate(graphs.graph_sizes):
        distances = lengths.distances[lengths.pair_ptr[graph] : lengths.pair_ptr[graph + 1]]
        expected, longest, counts = np.full((n, n), np.inf), 0, Counter()
        for source in range(n):
            best, paths = shortest_paths(graphs, graph, source)
            for v, length in best.items():
                expected[source, v] = length
            for path in (path for ends in paths.values() for path in ends):
                longest = max(longest, len(path) - 1)
                counts.update((v, place, len(path) - 1) for place, v in enumerate(path))
        np.testing.assert_array_equal(distances.reshape(n, n), expected)
        assert hops.most[graph] == longest
        assert {
            tuple(map(int, at)): matrices[graph][tuple(at)] for at in np.argwhere(matrices[graph])
        } == counts


@pytest.mark.parametrize("largest_weight", [1, 3])
def test_counts_are_those_of_single_nodes(largest_weight):
    """Positions of nodes on paths, summed by label, have the codes of the positions of each node."""
    graphs, counter = some_graphs(largest_weight), HopCounter("node", True)
    (counted,) = counter.count(graphs, None)
    expected = defaultdict(float)
    for one in counter.occurrences(graphs):
        owners = np.searchsorted(graphs.graph_ptr, one.nodes[:, 0], side="right") - 1
        for graph, code, number in zip(owners, one.codes, one.numbers, strict=True):
            expected[int(graph), int(code)] += number
    rows, columns = counted.counts.tocoo().coords
    found = zip(rows.tolist(), counted.codes[columns].tolist(), strict=True)
    assert dict(zip(found, counted.counts.data, strict=True)) == expected


def test_sums_in_another_order_have_one_length():
    chain = np.diag([0.1, 0.2, 0.3], 1)
    distances = path_lengths(pk.check_graphs([chain + chain.T]), True).distances.reshape(4, 4)
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert distances[0, 3] == distances[3, 0]
    assert abs(distances[0, 3] - 0.6) < 1e-10
    assert (np.diag(distances) == 0).all()


def test_words_of_paths_tell_edge_labels_in_order():
    """Around a square, the two ways to the far corner are taken together, whichever comes first."""
    labels = {(0, 1): 1, (1, 2): 2, (2, 3): 3, (0, 3): 4}
    turned = {(0, 1): 2, (1, 2): 1, (2, 3): 4, (0, 3): 3}
    graphs = pk.check_graphs([SQUARE, SQUARE])
    rows, columns = graphs.adjacency.tocoo().coords
    ends = [(i // 4, min(i % 4, j % 4), max(i % 4, j % 4)) for i, j in zip(rows, columns, strict=True)]
    keys = np.array([(labels, turned)[graph][i, j] for graph, i, j in ends], dtype=np.uint64)
    lengths, words = path_lengths(graphs, True), np.empty(32, dtype=np.uint64)
    _core.label_paths(lengths.arrays, keys, lengths.distances, np.array([0, 8]), words, 1)
    first, second = words.reshape(2, 4, 4)
    assert (np.diag(first) == 1).all()
    assert first[0, 2] == second[2, 0]  # labels 1 2 and 4 3, in the other graph from the other corner
    assert first[0, 2] != second[0, 2]
    assert first[0, 2] != first[2, 0]


@pytest.mark.parametrize("bounds", [[0, 41], [0, 3, 17, 41]])
def test_words_of_edges_of_length_1_need_no_distances(bounds):
    graphs = some_graphs(1)
    lengths = path_lengths(graphs, True)
    words, again = np.empty((2, lengths.pair_ptr[-1]), dtype=np.uint64)
    keys = np.random.default_rng(0).integers(0, 3, graphs.adjacency.nnz).astype(np.uint64)
    _core.label_paths(lengths.arrays, keys, lengths.distances, np.array([0, graphs.n_nodes]), words, 1)
    _core.label_paths(lengths.arrays, keys, None, np.array(bounds), again, 2)
    assert lengths.has_hops
    assert np.array_equal(again, words)


def counted_triplets(graphs, part=0, n_parts=1):
    """Number of codes of each graph, codes and counts."""
    a, lengths = graphs.adjacency, np.empty(len(graphs), dtype=np.int64)
    ids, keys = np.asarray(graphs.node_labels), np.arange(7, 47, dtype=np.uint64)
    arrays = a.indptr, a.indices, graphs.graph_ptr, ids, np.ones_like(ids), keys
    codes, counts = _core.count_triplets(*arrays, part, n_parts, lengths)
    return lengths, np.frombuffer(codes, np.int64), np.frombuffer(counts)


def test_triplets_are_those_of_all_pairs():
    graphs, coder = some_graphs(), TripletCoder("node", True, False)
    (counted,) = coder.count(graphs, None)
    lengths = path_lengths(graphs, True)
    codes = coder._codes(lengths)
    for graph in range(len(graphs)):
        pairs = codes[lengths.pair_ptr[graph] : lengths.pair_ptr[graph + 1]]
        row = counted.counts[[graph]]
        found = dict(zip(counted.codes[row.indices].tolist(), row.data, strict=True))
        assert found == Counter(pairs[pairs != NO_BIN].tolist())


def test_triplets_of_many_labels():
    n = 40
    ring = np.roll(np.eye(n), 1, axis=1)
    sizes, codes, counts = counted_triplets(pk.check_graphs([(ring + ring.T, np.arange(n))]))
    assert sizes.tolist() == [n * (n - 1)] == [len(set(codes.tolist()))]
    assert (counts == 1).all()


@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_parts_of_the_start_nodes_add_up(n_parts):
    for graph in some_graphs():
        graphs = pk.check_graphs([graph])
        whole = counted_triplets(graphs)
        parts = [counted_triplets(graphs, part, n_parts) for part in range(n_parts)]
        codes, counts = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        assert list(dict.fromkeys(codes.tolist())) == whole[1].tolist()
        totals = Counter()
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            totals[code] += count
        assert [totals[code] for code in whole[1].tolist()] == whole[2].tolist()
