"""Contributions to decisions about nodes add up to 1e-9, by neighbor and by column, for every view."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.nodes.choosing import Arm, Choice
from propkernels.nodes.views import Block, View

GRAPH = nx.stochastic_block_model([30, 30], [[0.2, 0.02], [0.02, 0.2]], seed=0)
ADJACENCY = nx.to_scipy_sparse_array(GRAPH, format="csr")
TRUTH = np.repeat([0, 1], 30)
KNOWN = np.random.default_rng(0).random(60) < 0.4
Y = np.where(KNOWN, TRUTH, -1)
ATTRIBUTES = np.random.default_rng(1).normal(size=(60, 4)) + TRUTH[:, None]

VIEWS = {
    "own": View((Block("attributes"),)),
    "summed": View((Block("attributes", "renormalized", 4, True),)),
    "joined": View((Block("attributes", last=2), Block("structure", last=1), Block("targets", last=4))),
    "radial": View((Block("attributes", last=2), Block("structure", last=1), Block("targets", last=4)), 0.7),
    "crossed": View((Block("attributes"), Block("targets", last=4), Block("crossed"))),
    "crossed radial": View((Block("targets", last=4), Block("crossed")), 0.5),
    "codes": View((Block("codes"), Block("targets", last=4))),
}


def fitted(view, monkeypatch, attributes=ATTRIBUTES, y=Y, model=pk.NodeClassifier):
    """A model that sees one view."""

    def only(labelled, views, *rest):
        return Choice([Arm(view, 1.0)], [Arm(view, 1.0), Arm(VIEWS["own"], 1.0)], np.arange(0))

    monkeypatch.setattr("propkernels.nodes.model.choose", only)
    graph = pk.GraphDatabase(ADJACENCY, [0, 60], node_attributes=attributes)
    return model(random_state=0).fit(graph, y)


def check_sums(explanation):
    for i in range(len(explanation.nodes)):
        by_neighbor = sum(values.sum() for values in explanation.by_neighbor(i).values())
        by_column = sum(explanation.by_column(i).values())
        for total in (by_neighbor, by_column, sum(explanation.step_totals(i).values())):
            assert abs(total + explanation.intercepts[i] - explanation.decisions[i]) < 1e-9


@pytest.mark.parametrize("name", VIEWS)
def test_contributions_add_up(name, monkeypatch):
    model = fitted(VIEWS[name], monkeypatch)
    explanation = model.explain([0, 7, 45, int(np.flatnonzero(KNOWN)[0])])
    np.testing.assert_allclose(explanation.decisions, model.decision_function()[explanation.nodes])
    check_sums(explanation)


def test_wide_sparse_attributes_are_explained_one_by_one(monkeypatch):
    monkeypatch.setattr("propkernels.nodes.inputs.MOST_NUMBERS", 10)
    monkeypatch.setattr("propkernels.nodes.inputs.N_COMPONENTS", 3)
    counts = csr_array(np.random.default_rng(2).poisson(0.5, (60, 12)) + np.eye(12)[TRUTH * 5])
    model = fitted(VIEWS["summed"], monkeypatch, counts)
    explanation = model.explain([3])
    check_sums(explanation)
    assert set(explanation.by_column(0)) <= {f"attribute {i}" for i in range(12)}


def test_of_three_classes_the_decision_for_the_predicted_one_is_explained(monkeypatch):
    model = fitted(VIEWS["joined"], monkeypatch, y=np.where(KNOWN, np.arange(60) % 3, -1))
    explanation = model.explain([1, 2])
    check_sums(explanation)
    scores = model.decision_function()[1]
    assert abs(explanation.decisions[0] - scores.max()) < 1e-9
    pair = model.explain([1], classes=(0, 2))
    check_sums(pair)
    assert abs(pair.decisions[0] - (scores[0] - scores[2])) < 1e-9


def test_numbers_are_explained_in_their_units(monkeypatch):
    values = np.where(KNOWN, 100 + 10.0 * TRUTH, np.nan)
    model = fitted(VIEWS["joined"], monkeypatch, y=values, model=pk.NodeRegressor)
    explanation = model.explain([0, 59])
    np.testing.assert_allclose(explanation.decisions, model.predict()[[0, 59]])
    check_sums(explanation)


def test_a_node_does_not_add_its_own_target(monkeypatch):
    model = fitted(View((Block("targets", last=4),)), monkeypatch)
    node = int(np.flatnonzero(KNOWN)[2])
    assert model.explain([node]).neighbor_totals(0)[node] == 0


def test_neighborhoods_are_drawn_around_the_node(monkeypatch):
    explanation = fitted(VIEWS["summed"], monkeypatch).explain([5])
    part, nodes = explanation.neighborhood(0, 20)
    assert nodes[0] == 5
    assert part.n_nodes == len(nodes) <= 20
    assert set(GRAPH[5]) <= set(nodes.tolist())
    assert explanation.draw(0).count("<circle") >= len(nodes)
    assert "node 5" in explanation._repr_html_()
    assert "decision" in explanation.table(0, 3)
    assert [r["node"] for r in explanation.records(0, 2)]
