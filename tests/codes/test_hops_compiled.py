"""Path counts: widths and entries; the counts themselves are in test_paths_compiled.py."""

import numpy as np
import pytest

from propkernels._utils.randomness import mix
from propkernels.codes.distances import path_lengths
from propkernels.codes.hops_compiled import list_hops, most_hops, widest_hops
from tests.codes.test_paths_compiled import GENERATOR, some_graphs

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("largest_weight", [1, 3])
def test_widest_hops_are_those_of_each_graph(largest_weight):
    graphs = some_graphs(largest_weight)
    lengths, a = path_lengths(graphs, True), graphs.adjacency
    most = np.zeros(len(graphs), dtype=np.int64)
    edges = (a.indptr, a.indices, lengths.weights)
    widest_hops(
        *edges, graphs.graph_ptr, lengths.pair_ptr, lengths.distances, largest_weight == 1, 0, 4, most
    )
    expected = []
    for graph, n in enumerate(graphs.graph_sizes):
        distances = lengths.distances[lengths.pair_ptr[graph] : lengths.pair_ptr[graph + 1]]
        expected.append(most_hops(*edges, graphs.graph_ptr[graph], n, distances))
    assert most.tolist() == expected


def test_entries_of_path_counts_have_the_codes_of_their_positions():
    matrices = np.triu(GENERATOR.integers(0, 3, (2, 3, 3))).astype(float)
    matrices[1, 2, 2] = 5.0
    keys = np.array([11, 12], dtype=np.uint64)
    codes, counts = np.zeros(12, dtype=np.int64), np.zeros(12)
    filled = list_hops(matrices, keys, codes, counts)
    places = np.argwhere(matrices)
    expected = [int(mix(keys[s], np.uint64(a), np.uint64(b)).astype(np.int64)) for s, a, b in places]
    assert codes[:filled].tolist() == expected
    assert counts[:filled].tolist() == [matrices[tuple(place)] for place in places]
