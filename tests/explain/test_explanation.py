"""Explanations: sums over nodes and iterations, for graphs and grids, and what can be asked of them."""

from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.decisions import explain_rule
from propkernels.explain.explanation import Explanation
from propkernels.explain.rule import Rule, dual_members
from propkernels.kernels import LabelHistogram
from propkernels.propagation import Convolution
from tests.test_contract_discovery import cases, fitted_on_the_zoo, the_zoo


@pytest.fixture(scope="module")
def molecules():
    return pk.datasets.make_molecules(60, random_state=0)


@pytest.fixture(scope="module")
def pictures():
    """Three kinds of small pictures of several sizes, some with masks."""
    rng = np.random.default_rng(0)
    images, masks = [], []
    for i in range(36):
        shape = (int(rng.integers(5, 9)), int(rng.integers(5, 9)))
        rows, columns = np.indices(shape)
        pattern = (rows % 2, columns % 2, (rows + columns) % 2)[i % 3]
        images.append(np.where(rng.random(shape) < 0.15, 1 - pattern, pattern))
        masks.append(None if i % 2 else rng.random(shape) < 0.9)
    return pk.GridDatabase(images, masks=masks), np.arange(36) % 3


GRID = pk.GridDatabase([np.zeros((1, 2), dtype=int), np.zeros((1, 1), dtype=int)])


@pytest.mark.slow
@cases("kernel")
def test_every_rule_that_compares_bins_on_the_zoo(cls, parameters):
    """Whatever the machine: contributions add up, also of graphs without nodes."""
    kernel, matrix = fitted_on_the_zoo(cls, parameters)
    coefficients = np.random.default_rng(0).normal(size=(len(matrix), 2))
    rule = Rule.of(dual_members(kernel, coefficients))
    assert rule.compares_bins >= kernel._is_dot_product
    if not rule.compares_bins:
        return
    graphs = the_zoo()
    explanation = explain_rule(rule, graphs, [1.0, -0.5], [2.0, 4.0])
    reference = matrix @ (coefficients @ [1.0, -0.5])
    scale = max(np.abs(reference).max(), 1.0)
    assert np.allclose(explanation.decisions / scale, reference / scale, atol=1e-12, rtol=0)
    assert explanation.intercept == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_every_solver_adds_up(molecules, solver):
    kernel = pk.PropagationKernel(t_max=2)
    target = np.arange(60) % 3
    model = pk.PropagationClassifier(kernel=kernel, solver=solver, C=1, t_max=2, random_state=0)
    model.fit(molecules.graphs[:40], molecules.target[:40])
    test = molecules.graphs[40:]
    decisions, chances = model.decision_function(test), model.predict_proba(test)
    assert np.allclose(model.explain(test).decisions, decisions, atol=1e-9, rtol=0)
    assert np.allclose(chances.sum(axis=1), 1)
    if solver != "gp":  # whose chances also depend on the variance of each graph
        assert (np.diff(chances[np.argsort(decisions), 1]) >= 0).all()
    assert np.array_equal(model.predict(test), decisions > 0)
    labels = np.where(
        np.arange(60)[:, None] % 7 == [2, 4], np.nan, np.column_stack([target > 0, target == 2])
    )
    model.fit(molecules.graphs, labels)
    decisions = model.decision_function(test)
    assert np.array_equal(model.predict(test), decisions > 0)
    assert np.array_equal(model.predict_proba(test) > 0.5, decisions > 0)
    assert np.allclose(model.explain(test, 1).decisions, decisions[:, 1], atol=1e-9, rtol=0)
    model.fit(molecules.graphs, target)
    decisions = model.decision_function(test)
    assert np.allclose(model.explain(test).decisions, decisions.max(axis=1), atol=1e-9, rtol=0)
    assert np.array_equal(model.explain(test).speaks_for, model.predict(test))
    assert np.array_equal(model.predict_proba(test).argmax(axis=1), model.predict(test))
    for label in range(3):
        assert np.allclose(model.explain(test, label).decisions, decisions[:, label], atol=1e-9, rtol=0)


def test_weights_of_labels_are_those_of_the_machine(molecules):
    """With label counts alone, a node adds its label's weight, sum_i a_i count_i(label)."""
    graphs, target = molecules.graphs, molecules.target
    model = pk.PropagationClassifier(kernel=LabelHistogram(), C=1, normalize=False, random_state=0)
    explanation = model.fit(graphs, target).explain(graphs)
    values = sorted(set(graphs.node_labels))
    counts = np.array([[np.sum(graph.node_labels == value) for value in values] for graph in graphs])
    middle = np.eye(60) - 1 / 60
    gram = middle @ counts @ counts.T @ middle
    ridge = (counts**2).sum(axis=1).mean()
    dual = middle @ np.linalg.solve(gram + ridge * np.eye(60), 2.0 * target - 1 - (2.0 * target - 1).mean())
    weights = dual @ counts
    reference = [weights[values.index(label)] for label in graphs.node_labels]
    assert np.allclose(explanation.contributions[:, 0], reference, atol=1e-9, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("propagation", ["auto", Convolution((1, 8))], ids=repr)
def test_pixels_add_up(pictures, propagation, normalize):
    grids, target = pictures
    kernel = pk.PropagationKernel(t_max=3, propagation=propagation, bin_width=0.05)
    two = np.flatnonzero(target < 2)
    model = pk.PropagationClassifier(kernel=kernel, C=10, normalize=normalize, random_state=0)
    model.fit(grids[two[:16]], target[two[:16]])
    test = grids[two[16:]]
    explanation = model.explain(test)
    assert np.allclose(explanation.decisions, model.decision_function(test), atol=1e-9, rtol=0)
    for i in range(len(test)):
        image = explanation.image(i)
        assert image.shape == test[i].shape
        assert np.isnan(image).sum() == image.size - test[i].n_nodes
        assert np.array_equal(
            image[~np.isnan(image)], explanation.node_totals[slice(*test.graph_ptr[i : i + 2])]
        )
        steps = sum(explanation.image(i, t) for t in range(explanation.contributions.shape[1]))
        assert np.allclose(steps, image, equal_nan=True)


@pytest.fixture
def small():
    graphs = pk.check_graphs([(np.ones((2, 2)) - np.eye(2), ["C", "N"]), (np.zeros((1, 1)), [None])])
    contributions = np.array([[1.0, -4.0], [2.0, 0.5], [0.0, 7.0]])
    return Explanation(contributions, graphs.graph_ptr, 0.5, graphs, "b", "a")


def test_sums(small):
    assert small.decisions.tolist() == [0.0, 7.5]
    assert small.node_totals.tolist() == [-3.0, 2.5, 7.0]
    assert small.iteration_totals.tolist() == [[3.0, -3.5], [0.0, 7.0]]
    assert small.of_graph(-1).tolist() == [[0.0, 7.0]]


def test_top_nodes_and_tables(small):
    assert [record["node"] for record in small.top_nodes(0)] == [0, 1]
    assert small.top_nodes(0, n=1) == [
        {"graph": 0, "node": 0, "label": "C", "total": -3.0, "t0": 1.0, "t1": -4.0}
    ]
    lines = small.table(0).splitlines()
    assert lines[0].split() == ["node", "label", "total", "t0", "t1"]
    assert lines[1].split() == ["0", "C", "-3", "+1", "-4"]
    assert small.top_nodes(1)[0]["label"] is None


def test_rows_of_tables_add_up_to_the_decision(small):
    assert [line.split() for line in small.table(0, n=1).splitlines()[2:]] == [
        ["others", "+2.5", "+2", "+0.5"],
        ["intercept", "+0.5"],
        ["decision", "0"],
    ]
    assert [line.split()[0] for line in small.table(1).splitlines()[1:]] == ["0", "intercept", "decision"]


def test_tables_and_captions_name_what_belongs_to_no_node(small):
    described = replace(small, descriptor_terms=2.0, intercept=0.0)
    assert [line.split() for line in described.table(1).splitlines()[2:]] == [
        ["descriptors", "+2"],
        ["decision", "+9"],
    ]
    graphs = pk.datasets.make_molecules(12, random_state=0).graphs
    novel = pk.NoveltyDetector(random_state=0).fit(graphs[:10]).explain(graphs[10:])
    assert "what it lacks" in novel.table(0)
    assert "what it lacks" in novel.caption(0)
    assert novel.table(0).splitlines()[-1].split()[0] == "novelty"


def test_records_and_frame_agree(small):
    frame = small.to_frame()
    assert list(frame.columns) == ["graph", "node", "label", "total", "t0", "t1"]
    assert frame.drop(columns="label").to_dict("records") == [
        {name: value for name, value in record.items() if name != "label"} for record in small.records()
    ]
    assert frame["node"].tolist() == [0, 1, 0]
    assert frame["label"].tolist()[:2] == ["C", "N"]


def test_of_several_classes_the_predicted_one_is_explained_by_default(molecules):
    target = np.arange(60) % 4
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=2), C=1, random_state=0)
    model.fit(molecules.graphs, target)
    test = molecules.graphs[40:]
    found, predicted = model.explain(test), model.predict(test)
    assert found.speaks_for.tolist() == predicted.tolist()
    assert found.subject == "for the predicted class against the others"
    for i, own in enumerate(predicted):
        alone = model.explain(test[[i]], own)
        assert found.class_of(i) == own
        assert found.intercept_of(i) == alone.intercept
        assert np.array_equal(found.of_graph(i), alone.contributions)
    assert len(found.decisions) == 20
    total, rest = found.of_graph(0).sum(), found.intercept_of(0)
    caption = f"class {predicted[0]} (nodes {total:+.3g}, intercept {rest:+.3g} = {found.decisions[0]:+.3g})"
    assert found.caption(0) == caption
    assert f"40: {caption}" in found._repr_html_() or f"0: {caption}" in found._repr_html_()


def test_substructures_are_the_strongest_neighborhoods():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"])
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    explanation = model.fit(graphs, [1, 1, 0, 0, 1, 0]).explain(graphs)
    found = explanation.substructures(1, n=2)
    values = explanation.of_graph(1)
    assert [one["contribution"] for one in found] == [values[one["node"], one["t"]] for one in found]
    assert abs(found[0]["contribution"]) == abs(values).max()
    of_node = {(3, 0): "[#8]", (3, 1): "[#6]-[#8]", (2, 1): "[#6]-[#6]-[#8]"}  # CCCO
    assert found[0]["smarts"] == of_node[found[0]["node"], found[0]["t"]]
    every = [one["smarts"] for one in explanation.substructures(4, n=10)]
    assert len(set(every)) == len(every)  # carbons of equal neighborhoods are listed once
    assert 2 <= len(every) < 5


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda small: small.of_graph(2), IndexError, "graph 2 is out of range"),
        (lambda small: small.of_graph([0, 1]), TypeError, "number of one graph"),
        (lambda small: small.image(0), TypeError, "only where grids are explained"),
        (lambda small: small.top_nodes(0, n=0), ValueError, "n must be at least 1"),
        (lambda small: small.with_graphs(GRID).image(0, 2), ValueError, "t must be at most 1"),
        (lambda small: small.edge_contributions(0, t=2), ValueError, "t must be at most 1"),
        (lambda small: small.with_graphs(None).edge_contributions(0), TypeError, "need explained graphs"),
        (lambda small: small.substructures(0), ValueError, "need the molecules"),
        (lambda small: small.draw_molecule(0), ValueError, "do not store the molecules"),
        (lambda small: small.contacts(0), TypeError, "contacts need explained graphs in time"),
    ],
)
def test_bad_questions(small, ask, kind, message):
    with pytest.raises(kind, match=message):
        ask(small)
