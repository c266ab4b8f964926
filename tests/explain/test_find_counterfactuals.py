"""Counterfactuals of a model and a graph: defaults, inputs and errors."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from tests.explain import naive
from tests.explain.small_models import KERNELS, fitted, small_graphs


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


def key(edits):
    """Edits as the naive search writes them."""
    return [
        (e.kind, e.node, None if e.kind in ("relabel", "add_leaf") else e.other, e.label, e.edge_label)
        for e in edits
    ]


def test_fast_and_slow_agree(data, monkeypatch):
    model = fitted(KERNELS["fast"], data)
    graph = data[0][1]
    fast = model.counterfactuals(graph, n=40, allowed={"connected": True}, budget=3000)
    monkeypatch.setattr("propkernels.explain.find_counterfactuals.Engine.of", lambda *_: None)
    slow = model.counterfactuals(graph, n=40, allowed={"connected": True}, budget=3000)
    assert fast.edits == slow.edits
    assert fast.summary == slow.summary
    np.testing.assert_allclose(fast.decision, slow.decision, rtol=0, atol=1e-12)


def test_labels_nobody_reads_are_not_changed(data):
    model = fitted(pk.PropagationKernel(labels="degree", t_max=1, random_state=0), data)
    found = model.counterfactuals(data[0][0], n=500, max_edits=1)
    assert "relabel" not in {edits[0].kind for edits in found.edits}


def test_what_cannot_be_edited_is_one_sentence(data):
    model = fitted(KERNELS["fast"], data)
    with pytest.raises(ValueError, match="a single graph, got 40"):
        model.counterfactuals(data[0])
    directed = pk.GraphDatabase([[0, 1], [0, 0]], [0, 2], ["C", "N"])
    with pytest.raises(ValueError, match="directed edges"):
        model.counterfactuals(directed)
    with pytest.raises(TypeError, match="images"):
        model.counterfactuals(pk.GridDatabase([np.zeros((3, 3), dtype=int)])[0])
    with pytest.raises(ValueError, match="at most 2"):
        model.counterfactuals(data[0][0], max_edits=3)
    with pytest.raises(ValueError, match="each kind of allowed edits"):
        model.counterfactuals(data[0][0], allowed=["paint"])
    with pytest.raises(ValueError, match="each key of allowed"):
        model.counterfactuals(data[0][0], allowed={"colors": ["red"]})
    large = pk.from_networkx([nx.path_graph(2000)])
    with pytest.raises(ValueError, match="restrict them by allowed"):
        model.counterfactuals(large)


def test_other_libraries_and_unfitted_models(data):
    from sklearn.exceptions import NotFittedError

    plain = naive.from_database(data[0][0])
    assert len(fitted(KERNELS["fast"], data).counterfactuals(plain, n=2)) == 2
    with pytest.raises(NotFittedError):
        pk.PropagationClassifier().counterfactuals(plain)
