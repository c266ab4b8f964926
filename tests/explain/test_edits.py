"""Allowed edits, and attributes of edited graphs."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.edits import KINDS
from tests.explain.small_models import KERNELS, fitted, small_graphs


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


def test_allowed_edits(data):
    model, graph = fitted(KERNELS["fast"], data), data[0][0]
    for kind in KINDS:
        found = model.counterfactuals(graph, n=100, allowed=[kind], budget=2000)
        assert {edit.kind for edits in found.edits for edit in edits} <= {kind}
    found = model.counterfactuals(graph, n=100, allowed={"labels": ["N"], "kinds": ["relabel", "add_leaf"]})
    assert {edit.label for edits in found.edits for edit in edits} == {"N"}
    found = model.counterfactuals(graph, n=100, max_edits=1, allowed={"nodes": [0, 2]})
    for edits in found.edits:
        touched = {edits[0].node} | ({edits[0].other} if edits[0].kind.endswith("edge") else set())
        assert touched <= {0, 2}


def test_attributes_go_with_their_nodes():
    rng = np.random.default_rng(0)
    graphs, target = small_graphs(20, 1)
    graphs = graphs.with_attributes(rng.normal(size=(graphs.n_nodes, 2)) + target[graphs.graph_ids][:, None])
    kernel = pk.PropagationKernel(attributes="sum", t_max=1, random_state=0)
    model = pk.PropagationClassifier(kernel=kernel, t_max=1, C=1.0, random_state=0).fit(graphs, target)
    found = model.counterfactuals(graphs[0], n=3, max_edits=1)
    assert "add_leaf" not in {edits[0].kind for edits in found.edits}
    grown = model.counterfactuals(graphs[0], n=1, max_edits=1, allowed=["add_leaf"]).graph(0)
    assert np.isnan(grown.node_attributes[-1]).all()
    np.testing.assert_array_equal(grown.node_attributes[:-1], graphs[0].node_attributes)
