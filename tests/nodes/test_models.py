"""NodeClassifier and NodeRegressor: no leaks, every input, other graphs, choice, parts of files."""

from copy import copy

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import r2_score

import propkernels as pk
from propkernels.nodes.contributions import Tallies
from propkernels.nodes.members import NodeRule
from propkernels.nodes.spreading import Known
from propkernels.nodes.views import SOURCES, Sheet, default_views


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
SQUARES = nx.grid_2d_graph(12, 12)
GRID = nx.to_scipy_sparse_array(SQUARES, format="csr")
SLOPE = np.array([x + 0.5 * y for x, y in SQUARES])
GIVEN = np.random.default_rng(0).random(144) < 0.5
NUMBERS = pk.NodeRegressor(C=10.0, random_state=0).fit(GRID, np.where(GIVEN, SLOPE, np.nan))


def test_groups_are_found():
    assert np.mean(MODEL.predict() == TRUTH) > 0.95
    assert (MODEL.transduction_ == MODEL.predict()).all()
    assert MODEL.score(None, TRUTH) > 0.95
    chances = MODEL.predict_proba()
    assert chances.shape == (120, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_a_fitted_model_says_what_it_learned():
    assert "Learned from" not in pk.NodeClassifier()._repr_html_()
    line = MODEL._repr_html_().partition("</p>")[0]
    views, score = ", ".join(MODEL.views_), f"{MODEL.score_:.2f}"
    assert line == f"<p>Learned from {(Y >= 0).sum()} nodes: {views}; score {score} when held out."


def test_few_validation_nodes_choose_together_with_folds_of_the_others():
    labeled = np.flatnonzero(Y >= 0)
    model = pk.NodeClassifier(cv=2)
    folds, fitted = model._folds(TRUTH[labeled], labeled, labeled[::3], 0)
    held = [labeled[places].tolist() for _, places in folds]
    assert held[0] == labeled[::3].tolist()
    assert sorted(held[1] + held[2]) == np.setdiff1d(labeled, labeled[::3]).tolist()
    for train, _ in folds:
        assert np.isin(train, fitted).all()  # validation nodes never train


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


@pytest.mark.parametrize("model", [pk.NodeClassifier, pk.NodeRegressor])
def test_scores_of_several_columns_are_those_of_what_is_known(model):
    graph, rng = nx.karate_club_graph(), np.random.default_rng(0)
    y = np.where(rng.random((34, 2)) < 0.3, np.nan, rng.random((34, 2)) < 0.5)
    fitted, weights = model(random_state=0).fit(graph, y), np.arange(34) % 3 + 1.0
    for own in (None, weights):
        share = np.ones(34) if own is None else own
        guess, known = fitted.predict(), ~np.isnan(y)
        if model is pk.NodeClassifier:
            expected = (share @ ((guess == y) & known)).sum() / (share @ known).sum()
        else:
            columns = zip(y.T, guess.T, known.T, strict=True)
            expected = np.mean([r2_score(t[k], g[k], sample_weight=share[k]) for t, g, k in columns])
        assert fitted.score(None, y, sample_weight=own) == pytest.approx(expected)


def test_a_class_with_one_node_is_kept():
    y = Y.copy()
    y[0] = 2
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function().shape == (120, 3)


def test_a_single_node_of_a_class_leaves_probabilities_of_the_other_to_learn_from():
    y = np.where(Y < 0, -1, np.arange(120) == np.flatnonzero(Y >= 0)[0])
    model = pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, y)
    chances = model.predict_proba()
    assert (chances.argmax(axis=1) == model.predict()).all()
    assert 0.5 < chances.max() < 1


@pytest.mark.parametrize(
    ("given", "error", "word"),
    [
        ({"y": Y[:-1]}, ValueError, "one entry per node"),
        ({"y": [[0], *Y[1:].tolist()]}, ValueError, "rows of equal length"),
        ({"sample_weight": [[1], *Y[1:].tolist()]}, ValueError, "sample_weight must hold"),
        ({"y": np.full(120, -1)}, ValueError, "is missing"),
        ({"y": np.where(Y == 0, 0, -1)}, ValueError, "one class is not enough"),
        ({"cv": ()}, ValueError, "cv must hold pairs of training and test positions"),
        ({"validation": np.flatnonzero(Y < 0)}, ValueError, "validation must name"),
        ({"validation": np.ones(120, dtype=bool)}, ValueError, "validation must name"),
        ({"X": pk.GridDatabase([np.zeros((3, 3), dtype=int)])}, TypeError, "need a graph with edges"),
    ],
)
def test_wrong_targets_are_refused_with_a_reason(given, error, word):
    with pytest.raises(error, match=word):
        pk.NodeClassifier(cv=given.get("cv")).fit(
            **{"X": ADJACENCY, "y": Y} | {key: given[key] for key in given if key != "cv"}
        )


@pytest.mark.parametrize("n", [2, 3, 9, 10])
def test_few_known_nodes_are_enough(n):
    """Each class, or each of ten ranges of numbers, has one node: folds are not stratified."""
    path, unknown = nx.path_graph(12), [None] * (12 - n)
    classes = [chr(97 + i) for i in range(n)]
    assert set(pk.NodeClassifier(random_state=0).fit(path, classes + unknown).predict()) <= set(classes)
    numbers = pk.NodeRegressor(random_state=0).fit(path, [*map(float, range(n)), *unknown])
    assert np.isfinite(numbers.predict()).all()
    with pytest.raises(ValueError, match="only one node has a target"):
        pk.NodeRegressor().fit(path, [1.0] + [None] * 11)


def test_known_targets_of_another_graph_are_those_of_fit():
    with pytest.raises(ValueError, match="did not occur in fit"):
        MODEL.predict(ADJACENCY, np.where(Y == 0, 7, Y))
    for wrong, word in (
        (["a"] * 144, "must be numbers"),
        (np.zeros((144, 2)), "1 columns, got 2"),
        (np.full(144, 1e300), "finite"),
    ):
        with pytest.raises(ValueError, match=word):
            NUMBERS.predict(GRID, np.array(wrong))
    with pytest.raises(ValueError, match="one number per"):
        pk.NodeRegressor().fit(nx.path_graph(3), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_targets", np.zeros((1, 2)), "every labeled node needs a target"),
        ("decisions_", np.zeros((3, 1)), "every node needs decisions"),
        ("_rule", NodeRule(MODEL._rule.members, np.zeros(2)), "members have other decisions"),
        ("classes_", np.zeros(1), "classes differ"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(name, value, message):
    MODEL._check_parts()
    model = copy(MODEL)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=message):
        model._check_parts()


@pytest.mark.parametrize("maker", [pk.NodeClassifier, pk.NodeRegressor])
def test_blocks_of_all_views_have_the_widths_that_are_checked(maker):
    """Also crossed targets, several columns of targets, and attributes."""
    rng = np.random.default_rng(0)
    graph = pk.GraphDatabase(nx.to_scipy_sparse_array(nx.path_graph(20)), [0, 20], list("ab" * 10))
    graph = pk.GraphDatabase(graph.adjacency, [0, 20], graph.node_labels, rng.normal(size=(20, 2)))
    y = np.where(np.arange(20) % 3 == 0, -1, np.arange(20) // 10)
    several = np.column_stack([y, np.roll(y, 3)]) % 2
    model = maker(C=1.0, random_state=0).fit(graph, several)
    sheet, n_targets = Sheet(model.graph_, model._inputs), model._targets.shape[1]
    blocks = {b for view in default_views(model._inputs, 20, 2, n_targets) for b in view.blocks}
    assert {block.source for block in blocks} == set(SOURCES)
    walks = Tallies(sheet, Known(model._targets, model.nodes_))
    for block in blocks:
        assert walks.features(block, walks.pieces(block, 4)).shape == (
            1,
            block.width(model._inputs, n_targets),
        )


def test_smooth_numbers_are_found():
    assert NUMBERS.score(None, np.where(GIVEN, np.nan, SLOPE)) > 0.7
    assert NUMBERS.score_ > 0.5
    assert (NUMBERS.transduction_ == NUMBERS.predict()).all()


def test_minus_one_is_a_number():
    model = pk.NodeRegressor(C=1.0, random_state=0).fit(GRID, np.arange(144) % 3 - 1)
    assert len(model.nodes_) == 144


def test_several_columns_with_gaps():
    values = np.where(GIVEN[:, None], np.column_stack([SLOPE, -SLOPE]), np.nan)
    model = pk.NodeRegressor(C=10.0, random_state=0).fit(GRID, values)
    found = model.predict()
    assert found.shape == (144, 2)
    np.testing.assert_allclose(found[:, 0] - SLOPE.mean(), -(found[:, 1] + SLOPE.mean()), atol=1.0)


def test_units_do_not_matter():
    scaled = clone(NUMBERS).fit(GRID, np.where(GIVEN, 1000 * SLOPE + 7, np.nan))
    np.testing.assert_allclose(scaled.predict(), 1000 * NUMBERS.predict() + 7, rtol=1e-3)
