"""NodeClassifier: no leaks, every input, other graphs, choice, and scikit-learn's habits."""

import pickle

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import propkernels as pk
from propkernels.nodes.choosing import Arm, _in_the_race
from propkernels.nodes.views import Block, View


def blocks(n=120, seed=0, p=0.15, q=0.01):
    """Two groups of nodes with many edges inside."""
    graph = nx.stochastic_block_model([n // 2, n // 2], [[p, q], [q, p]], seed=seed)
    return nx.to_scipy_sparse_array(graph, format="csr"), np.repeat([0, 1], n // 2)


def partly(truth, share=0.3, seed=0):
    known = np.random.default_rng(seed).random(len(truth)) < share
    return np.where(known, truth, -1)


ADJACENCY, TRUTH = blocks()
Y = partly(TRUTH)
MODEL = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, Y)


def test_groups_are_found():
    assert np.mean(MODEL.predict() == TRUTH) > 0.95
    assert (MODEL.transduction_ == MODEL.predict()).all()
    assert MODEL.score(None, TRUTH) > 0.95
    chances = MODEL.predict_proba()
    assert chances.shape == (120, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_few_validation_nodes_choose_together_with_folds_of_the_others():
    labeled = np.flatnonzero(Y >= 0)
    model = pk.NodeClassifier(cv=2)
    folds, fitted = model._folds(TRUTH[labeled], labeled, labeled[::3], 0)
    held = [labeled[places].tolist() for _, places in folds]
    assert held[0] == labeled[::3].tolist()
    assert sorted(held[1] + held[2]) == np.setdiff1d(labeled, labeled[::3]).tolist()
    for train, _ in folds:
        assert np.isin(train, fitted).all()  # validation nodes never train


def test_views_far_behind_leave_the_race_but_the_best_without_targets_stays():
    seeing, blind, other = (
        View((Block(*parts),)) for parts in (("targets", "row", 4), ("codes",), ("structure",))
    )
    losses = {seeing: np.zeros(50), blind: np.ones(50), other: np.r_[np.ones(50)] * 2}
    arms = [Arm(view, 1.0, [values + 0.01 * np.arange(50) % 2]) for view, values in losses.items()]
    assert _in_the_race(list(losses), arms) == [seeing, blind]


@pytest.mark.slow
def test_random_labels_give_chance_where_leaks_would_give_certainty():
    """Pairs of nodes: a walk of two steps returns to its start, and would bring the node its own label."""
    n = 400
    adjacency = csr_array(np.kron(np.eye(n // 2), [[0, 1], [1, 0]]))
    truth = np.random.default_rng(0).integers(0, 2, n)
    known = np.where(np.arange(n) % 2 == 0, truth, -1)  # the partner of a known node is unknown
    model = pk.NodeClassifier(random_state=0).fit(adjacency, known)
    assert 0.35 < model.score_ < 0.65
    assert 0.4 < np.mean(model.predict()[1::2] == truth[1::2]) < 0.6


@pytest.mark.slow
def test_held_out_targets_change_nothing_before_they_are_compared():
    """Flipping validation labels changes scores, and no decision of the views."""
    validation = np.flatnonzero(Y >= 0)[::2]
    flipped = Y.copy()
    flipped[validation] = 1 - flipped[validation]
    model = pk.NodeClassifier(C=1.0, random_state=0)
    kept = [clone(model).fit(ADJACENCY, y, validation=validation) for y in (Y, flipped)]
    assert kept[0].score_ + kept[1].score_ <= 2
    assert (kept[0].nodes_ == kept[1].nodes_).all()
    assert not np.isin(kept[0].nodes_, validation).any()
    assert (kept[0]._targets == kept[1]._targets).all()


@pytest.mark.slow
def test_nodes_name_the_entries_of_y():
    known = np.flatnonzero(Y >= 0)
    other = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, Y[known], nodes=known)
    assert (other.decision_function() == MODEL.decision_function()).all()


@pytest.mark.slow
def test_names_of_classes_and_gaps_of_none():
    names = np.array([None if v < 0 else "ab"[v] for v in Y], dtype=object)
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, names)
    assert model.classes_.tolist() == ["a", "b"]
    assert (model.decision_function() == MODEL.decision_function()).all()
    numbers = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, np.where(Y < 0, np.nan, Y))
    assert (numbers.decision_function() == MODEL.decision_function()).all()


@pytest.mark.slow
def test_another_graph_is_predicted_with_and_without_labels():
    rng = np.random.default_rng(1)
    attributes = csr_array((rng.random((120, 8)) < 0.1) + np.eye(8)[TRUTH * 4])
    graph = pk.GraphDatabase(ADJACENCY, [0, 120], node_attributes=attributes)
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(graph, Y)
    adjacency, truth = blocks(60, seed=5)
    other = pk.GraphDatabase(
        adjacency, [0, 60], node_attributes=csr_array((rng.random((60, 8)) < 0.1) + np.eye(8)[truth * 4])
    )
    assert np.mean(model.predict(other) == truth) > 0.9
    assert np.mean(model.predict(other, partly(truth)) == truth) > 0.9
    again = model.predict(graph, Y)
    assert (again == model.predict()).all()


@pytest.mark.parametrize("kind", ["networkx", "matrix", "dense", "tuple", "graph", "database"])
def test_one_graph_of_every_kind(kind):
    graph = nx.from_scipy_sparse_array(ADJACENCY)
    database = pk.check_graphs([ADJACENCY])
    given = {
        "networkx": graph,
        "matrix": ADJACENCY,
        "dense": ADJACENCY.toarray(),
        "tuple": (ADJACENCY, None),
        "graph": database[0],
        "database": database,
    }[kind]
    assert pk.convert.check_graph(given).n_nodes == 120


@pytest.mark.slow
def test_nodes_of_several_graphs_are_learned_together():
    data = pk.datasets.make_molecules(30, random_state=0)
    degrees = (data.graphs.degrees > 1).astype(int)
    y = np.where(data.graphs.graph_ids < 20, degrees, -1)
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(data.graphs, y)
    assert np.mean(model.predict() == degrees) > 0.95
    assert model.predict(data.graphs[20:]).shape == (data.graphs[20:].n_nodes,)


@pytest.mark.parametrize("directed", [False, True])
def test_isolated_nodes_components_weights_and_edge_labels(directed):
    edges = [(0, 1, 2.0), (1, 2, 0.5), (3, 4, 1.0), (4, 5, 3.0), (5, 3, 1.0)]
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(8))
    for number, (u, v, w) in enumerate(edges):
        graph.add_edge(u, v, weight=w, label="xy"[number % 2])
    y = [0, -1, 0, 1, -1, 1, -1, -1]
    database = pk.from_networkx([graph], edge_label="label", weight="weight")
    model = pk.NodeClassifier(random_state=0).fit(database, y)
    assert np.isfinite(model.decision_function()).all()


@pytest.mark.slow
def test_several_labels_per_node():
    labels = np.column_stack([TRUTH, 1 - TRUTH, TRUTH]).astype(float)
    hidden = np.where((Y < 0)[:, None], np.nan, labels)
    hidden[np.flatnonzero(Y >= 0)[0], 1] = np.nan
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, hidden)
    assert np.mean(model.predict() == labels) > 0.95
    assert model.predict_proba().shape == (120, 3)


def test_a_class_with_one_node_is_kept():
    y = Y.copy()
    y[0] = 2
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function().shape == (120, 3)


@pytest.mark.slow
def test_weights_are_taken():
    weights = np.where(TRUTH == 1, 5.0, 1.0)
    model = pk.NodeClassifier(C=1.0, class_weight="balanced", random_state=0)
    model.fit(ADJACENCY, Y, sample_weight=weights)
    assert model.score_ > 0.9


@pytest.mark.slow
def test_clones_pickles_and_seeds_agree():
    again = clone(MODEL).fit(ADJACENCY, Y)
    assert (again.decision_function() == MODEL.decision_function()).all()
    copy = pickle.loads(pickle.dumps(MODEL))
    assert (copy.predict() == MODEL.predict()).all()
    threads = clone(MODEL).set_params(n_jobs=2).fit(ADJACENCY, Y)
    assert (threads.decision_function() == MODEL.decision_function()).all()


@pytest.mark.slow
def test_saved_models_decide_alike(tmp_path):
    pk.save_model(MODEL, tmp_path / "model.pk")
    loaded = pk.load_model(tmp_path / "model.pk")
    assert (loaded.decision_function() == MODEL.decision_function()).all()
    assert (loaded.decision_function(ADJACENCY, Y) == MODEL.decision_function(ADJACENCY, Y)).all()


def test_wrong_targets_are_refused_with_a_reason():
    model = pk.NodeClassifier()
    with pytest.raises(ValueError, match="one entry per node"):
        model.fit(ADJACENCY, Y[:-1])
    with pytest.raises(ValueError, match="rows of equal length"):
        model.fit(ADJACENCY, [[0], *Y[1:].tolist()])
    with pytest.raises(ValueError, match="sample_weight must hold"):
        model.fit(ADJACENCY, Y, sample_weight=[[1], *Y[1:].tolist()])
    with pytest.raises(ValueError, match="is missing"):
        model.fit(ADJACENCY, np.full(120, -1))
    with pytest.raises(ValueError, match="one class is not enough"):
        model.fit(ADJACENCY, np.where(Y == 0, 0, -1))
    with pytest.raises(ValueError, match="validation must name"):
        model.fit(ADJACENCY, Y, validation=np.flatnonzero(Y < 0))
    with pytest.raises(ValueError, match="did not occur in fit"):
        MODEL.predict(ADJACENCY, np.where(Y == 0, 7, Y))
    with pytest.raises(TypeError, match="need a graph with edges"):
        model.fit(pk.GridDatabase([np.zeros((3, 3), dtype=int)]), [0] * 9)
