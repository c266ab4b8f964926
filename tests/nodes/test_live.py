"""LiveNodes: after changes of edges, labels and targets, decisions are those of the changed graph."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.nodes.members import LinearMember
from propkernels.nodes.views import Block

GRAPH = nx.to_scipy_sparse_array(nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=0), format="csr")
Y = np.where(np.arange(40) % 2, np.arange(40) % 4 // 2, -1)
EVERYONE = np.arange(40)


@pytest.fixture(scope="module")
def model():
    return pk.NodeClassifier(C=1.0, random_state=0).fit(GRAPH, Y)


def free_pairs(live, n):
    pairs = np.random.default_rng(0).integers(0, 40, (200, 2)).tolist()
    chosen = {(min(p), max(p)) for p in pairs if p[0] != p[1] and not live.has_edge(*p)}
    return sorted(chosen)[:n]


def test_nothing_changed(model):
    live = model.live()
    np.testing.assert_allclose(live.decisions(EVERYONE), model.decisions_, rtol=0, atol=1e-10)
    assert (live.predict(EVERYONE) == model.predict()).all()


def test_changed_edges_and_targets(model):
    live, y = model.live(), Y.copy()
    for u, v in free_pairs(live, 5):
        live.add_edge(u, v)
    ends = np.transpose(GRAPH.nonzero())[0].tolist()
    live.remove_edge(*ends)
    live.set_target(4, 1)
    live.set_target(1, None)
    y[4], y[1] = 1, -1
    expected = model._layout.scores(model._decisions(live.graph, y, None))
    computed = model._layout.scores(live.decisions(EVERYONE))
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-10)
    assert (live.predict(EVERYONE) == model.predict(live.graph, y)).all()


def test_codes_decide_to_the_bit(model):
    """A member that sees codes only decides about the changed graph as from scratch."""
    live = model.live()
    for u, v in free_pairs(live, 3):
        live.add_edge(u, v)
    scratch = [block.by_stream() for block in model._inputs.coder.codes(live.graph, 1)]
    np.testing.assert_array_equal(
        np.concatenate([b.by_stream() for b in live.codes]), np.concatenate(scratch)
    )
    weights = np.random.default_rng(0).normal(size=(model._inputs.n_codes, 1))
    member = LinearMember((Block("codes"),), (weights,), np.zeros(1))
    computed = [live._current().decide([member], v)[0, 0] for v in range(40)]
    again = model.live(live.graph, Y)
    assert computed == [again._current().decide([member], v)[0, 0] for v in range(40)]


def test_labels_and_new_nodes():
    labeled = pk.check_graphs([(GRAPH, list("ab" * 20))])
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(labeled, Y)
    live = model.live()
    live.set_label(3, "b")
    node = live.add_node("a")
    live.add_edge(node, 3)
    y = np.append(Y, -1)
    expected = model._decisions(live.graph, y, None)
    np.testing.assert_allclose(live.decisions(np.arange(41)), expected, rtol=0, atol=1e-10)


def test_another_graph_without_targets(model):
    other = nx.cycle_graph(12)
    live = model.live(other)
    live.add_edge(0, 6)
    assert (live.predict([0, 6]) == model.predict(live.graph)[[0, 6]]).all()


def test_numbers(model):
    values = np.where(np.arange(40) % 3, np.nan, np.arange(40.0))
    regressor = pk.NodeRegressor(C=1.0, random_state=0).fit(GRAPH, values)
    np.testing.assert_allclose(regressor.live().predict(EVERYONE), regressor.predict(), atol=1e-9)


def test_no_nodes_have_no_decisions(model):
    live = model.live()
    assert live.decisions([]).shape == (0, model.decisions_.shape[1])
    assert live.predict([]).shape == (0,)


@pytest.mark.parametrize("node", [[0, 1], True, np.array([1])])
def test_a_target_is_of_one_node(model, node):
    with pytest.raises(TypeError, match="a node is a whole number"):
        model.live().set_target(node, 1)


def test_known_numbers_are_checked():
    y = np.where(np.arange(40) % 2, np.arange(40.0), np.nan)
    regressor = pk.NodeRegressor(C=1.0, random_state=0).fit(GRAPH, y)
    live = regressor.live()
    before = live.decisions([2, 3])
    for wrong in (np.inf, 1e200, "a", [1.0, 2.0]):
        with pytest.raises(ValueError, match="known target"):
            live.set_target(2, wrong)
    with pytest.raises(ValueError, match="known target"):
        regressor.predict(GRAPH, y=np.full(40, np.inf))
    live.set_target(2, np.nan)
    assert (live.decisions([2, 3]) == before).all()
