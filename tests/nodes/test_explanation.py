"""Contributions to decisions about nodes add up to 1e-9, by neighbor and by column, for every view."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.nodes.choosing import Candidate, Choice
from propkernels.nodes.contributions import Tallies, weights_along
from propkernels.nodes.inputs import learn_inputs
from propkernels.nodes.members import RadialMember, Scaling
from propkernels.nodes.spreading import Known, return_chances_of, target_hops
from propkernels.nodes.views import Block, Sheet, View
from tests.nodes.test_members import decided

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
        nothing = np.zeros((0, 1)), 1.0, np.zeros(1)
        return Choice(
            [Candidate(view, 1.0, *nothing)], [Candidate(VIEWS["own"], 1.0, *nothing)], np.arange(0)
        )

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
    for shown in (explanation.table(0, 3), explanation.draw(0), explanation._repr_html_()):
        assert "intercept" in shown
        assert "decision" in shown
    assert [r["node"] for r in explanation.records(0, 2)]


@pytest.mark.parametrize("gamma", [0.1, 5.0])
def test_weights_along_the_path_decide_as_the_radial_member_at_the_node(gamma):
    rng = np.random.default_rng(0)
    scaling = Scaling(rng.normal(size=5), rng.uniform(0.5, 2, size=5))
    blocks = (Block("attributes"), Block("structure"))
    member = RadialMember(blocks, scaling, rng.normal(size=(8, 5)), gamma, rng.normal(size=(8, 2)))
    parts, shares = [rng.normal(size=(1, 3)), rng.normal(size=(1, 2))], np.array([2.0, -1.0])
    weights, start = weights_along(member, parts, shares)
    found = start + sum((part @ own).item() for part, own in zip(parts, weights, strict=True))
    assert found == pytest.approx((decided(member, parts) @ shares).item(), abs=1e-10)


def graph(n=30, directed=False):
    random = np.random.default_rng(0)
    weights = random.random((n, n)) * (random.random((n, n)) < 0.12)
    weights[5] = weights[:, 5] = 0.0  # an isolated node
    adjacency = csr_array(weights if directed else weights + weights.T)
    return pk.GraphDatabase(adjacency, [0, n], node_attributes=random.normal(size=(n, 3)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "block",
    [
        Block("attributes", "row", 2),
        Block("attributes", "renormalized", 4, True),
        Block("structure", "row", 3),
        Block("targets", "row", 4),
        Block("crossed"),
        Block("codes"),
    ],
    ids=str,
)
def test_features_of_one_node_are_those_of_all(block, directed):
    given = graph(directed=directed)
    sheet = Sheet(given, learn_inputs(given, "both", True, 0)[0])
    nodes, targets = np.array([0, 3, 5, 8]), np.eye(2)[[0, 1, 1, 0]]
    known = Known(targets, nodes, return_chances_of(sheet.walks, nodes, 4))
    hops = target_hops(sheet.walks, known, sheet.between([block]))
    nodes = np.arange(given.n_nodes)
    reference = sheet.at(nodes, [block]).block(block, nodes, hops)
    reference = reference.toarray() if hasattr(reference, "toarray") else reference
    walks = Tallies(sheet, known)
    computed = np.vstack([walks.features(block, walks.pieces(block, int(v))) for v in nodes])
    np.testing.assert_allclose(computed, reference, rtol=0, atol=1e-12)
