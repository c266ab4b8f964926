"""Distances between all pairs of nodes, against networkx."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import propkernels as pk
from propkernels._utils.parallel import workers
from propkernels.codes import distances
from propkernels.codes.distances import check_pairs, path_lengths, runs_of_graphs
from tests.zoo import labelled_zoo


def of_networkx(graph, weight):
    plain = nx.from_scipy_sparse_array(graph.adjacency, create_using=nx.DiGraph)
    found = np.full((graph.n_nodes, graph.n_nodes), np.inf)
    for u, lengths in nx.all_pairs_dijkstra_path_length(plain, weight=weight):
        for v, length in lengths.items():
            found[u, v] = length
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_the_zoo_against_networkx(weighted):
    graphs = labelled_zoo()
    lengths = path_lengths(graphs, weighted)
    for i, graph in enumerate(graphs):
        found = lengths.distances[lengths.pair_ptr[i] : lengths.pair_ptr[i + 1]]
        expected = of_networkx(graph, "weight" if weighted else None)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-9)


def test_pairs_of_places_and_words():
    graphs = pk.check_graphs([np.array([[0, 1], [1, 0]]), np.zeros((2, 2))])
    lengths = path_lengths(graphs, True)
    assert lengths.distances.tolist() == [0, 1, 1, 0, 0, np.inf, np.inf, 0]
    assert lengths.pairs(np.array([1, 2, 5])).tolist() == [[0, 1], [1, 0], [2, 3]]
    words = lengths.words()
    assert words[5] == words[0] == 0
    assert words[1] == np.float64(1.0).view(np.uint64)


def test_runs_cover_all_graphs(monkeypatch):
    graphs = labelled_zoo()
    monkeypatch.setattr(distances, "PAIRS_IN_MEMORY", 50)
    runs = list(runs_of_graphs(graphs))
    assert len(runs) > 3
    assert pk.GraphDatabase.concat(runs) == graphs
    assert all(len(run) == 1 or (run.graph_sizes**2).sum() <= 50 for run in runs)


def test_too_many_pairs_are_refused_before_anything_is_allocated():
    from scipy.sparse import csr_array

    n = 10**7
    with pytest.raises(MemoryError, match="take graphs of any size"):
        check_pairs(pk.GraphDatabase(csr_array((n, n)), [0, n]))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_weighted_lengths_are_those_of_scipy(n_jobs, monkeypatch):
    """Weights of very different size, directed and parallel edges, loops, several components."""
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    rng, graphs = np.random.default_rng(0), []
    for n in (1, 2, 9, 40):
        weights = np.where(rng.random((n, n)) < 0.1, 10.0 ** rng.uniform(-6, 6, (n, n)), 0.0)
        graphs.append(weights if n == 9 else np.maximum(weights, weights.T))
    database = pk.from_adjacency(graphs)
    with workers(n_jobs):
        found = path_lengths(database, True)
    for k, weights in enumerate(graphs):
        expected = np.asarray(dijkstra(csr_array(weights)))
        lengths = found.distances[found.pair_ptr[k] : found.pair_ptr[k + 1]].reshape(expected.shape)
        np.testing.assert_allclose(lengths, expected, rtol=2.0**-36)
