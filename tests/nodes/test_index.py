"""NodeIndex: neighbors equal a comparison of all pairs; novelty falls with the frequency of codes."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk

GRAPH = nx.barabasi_albert_graph(60, 2, seed=0)
INDEX = pk.NodeIndex(random_state=0).fit(GRAPH)


def codes(index, graph):
    return np.array(index._streams(pk.check_graphs([graph])))


def test_neighbors_equal_all_pairs():
    own = codes(INDEX, GRAPH)
    expected = (own[:, :, None] == own[:, None, :]).mean(axis=0)
    found = INDEX.query(k=5)
    for node in range(60):
        order = np.argsort(-expected[node], kind="stable")[:5]
        assert found.ids[node].tolist() == order.tolist()
        np.testing.assert_allclose(found.similarities[node], expected[node][order], atol=1e-12)


def test_nodes_of_another_graph_are_looked_up():
    found = INDEX.query(nx.path_graph(4), nodes=[1, 2], k=3)
    assert found.ids.shape == (2, 3)
    assert (found.ids[0] == found.ids[1]).all()  # the inner nodes of a path are alike


def test_kernels_may_be_given():
    index = pk.NodeIndex(kernel=pk.WeisfeilerLehman(t_max=2, labels="degree")).fit(GRAPH)
    assert index.query(nodes=[3], k=1).ids[0, 0] <= 3
    with pytest.raises(TypeError, match="gives nodes no codes"):
        pk.NodeIndex(kernel=pk.GraphHopper()).fit(GRAPH)


def test_novelty_is_the_information_of_codes():
    own, scores = codes(INDEX, GRAPH), INDEX.score_samples()
    for node in (0, 30):
        total = 0.0
        for row in own:
            number = (row == row[node]).sum()
            total += np.log((number + 0.5) / (60 + 0.5 * (len(np.unique(row)) + 1)))
        assert abs(scores[node] - total / len(own)) < 1e-12


def test_unknown_surroundings_are_novel():
    clique = nx.complete_graph(30)
    assert INDEX.applicability(clique).by_node.min() > 0.5
    assert INDEX.p_values(clique).max() < 0.1
    assert INDEX.applicability(GRAPH).by_node.max() == 0


def test_files_keep_the_index(tmp_path):
    pk.save_model(INDEX, tmp_path / "index.pk")
    loaded = pk.load_model(tmp_path / "index.pk")
    assert (loaded.query(k=3).ids == INDEX.query(k=3).ids).all()
