"""NodeModel: folds of labeled nodes, decisions about all nodes, and parts of stored models."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.nodes.model import mean_decisions
from propkernels.nodes.one_node import KnownTargets, WalksFrom
from propkernels.nodes.views import SOURCES, Sheet, default_views

Y = np.where(np.arange(20) % 3 == 0, -1, np.arange(20) // 10)


@pytest.fixture
def model():
    return pk.NodeClassifier(C=1.0, random_state=0).fit(nx.path_graph(20), Y)


def test_decisions_of_the_training_graph_are_the_mean_of_its_members(model):
    sheet = Sheet(model.graph_, model._inputs)
    hops = model._hops(sheet, model.nodes_, model._targets)
    np.testing.assert_array_equal(mean_decisions(model._members, sheet, hops), model.decisions_)
    np.testing.assert_array_equal(model.transduction_, model.predict())


def test_members_for_other_graphs_see_no_targets(model):
    assert not any(member.uses_targets for member in model._blind_members)


@pytest.mark.parametrize("validation", [np.zeros(20, dtype=bool), np.ones(20, dtype=bool)])
def test_validation_nodes_are_some_and_not_all(validation):
    with pytest.raises(ValueError, match="validation must name some labeled nodes"):
        pk.NodeClassifier().fit(nx.path_graph(20), Y, validation=validation)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_targets", np.zeros((1, 2)), "every labeled node needs a target"),
        ("decisions_", np.zeros((3, 1)), "every node needs decisions"),
        ("_members", [], "a model needs members"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(model, name, value, message):
    setattr(model, name, value)
    with pytest.raises(ValueError, match=message):
        model._check_parts()


@pytest.mark.parametrize("maker", [pk.NodeClassifier, pk.NodeRegressor])
def test_blocks_of_all_views_have_the_widths_that_are_checked(maker):
    """Also crossed targets, several columns of targets, and attributes."""
    rng = np.random.default_rng(0)
    graph = pk.GraphDatabase(nx.to_scipy_sparse_array(nx.path_graph(20)), [0, 20], list("ab" * 10))
    graph = pk.GraphDatabase(graph.adjacency, [0, 20], graph.node_labels, rng.normal(size=(20, 2)))
    several = np.column_stack([Y, np.roll(Y, 3)]) % 2
    model = maker(C=1.0, random_state=0).fit(graph, several)
    sheet, n_targets = Sheet(model.graph_, model._inputs), model._targets.shape[1]
    blocks = {b for view in default_views(model._inputs, 20, 2, n_targets) for b in view.blocks}
    assert {block.source for block in blocks} == set(SOURCES)
    walks = WalksFrom(sheet, KnownTargets(model.nodes_, model._targets))
    for block in blocks:
        assert walks.block(block, 4).shape == (1, block.width(model._inputs, n_targets))


def test_classes_of_other_decisions_are_refused(model):
    model._check_parts()
    model.classes_ = model.classes_[:1]
    with pytest.raises(ValueError, match="classes differ"):
        model._check_parts()
