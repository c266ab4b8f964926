"""NodeFeatures: columns by name, a node's own target left out, sparse and dense attributes alike."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

import propkernels as pk
from propkernels.nodes import NodeFeatures

GRAPH = nx.gnp_random_graph(30, 0.2, seed=0)
ADJACENCY = nx.to_scipy_sparse_array(GRAPH)
ATTRIBUTES = np.random.default_rng(0).poisson(0.4, (30, 6)).astype(float)
LABELS = np.where(np.arange(30) % 3, np.arange(30) % 2, -1)


def with_attributes(values):
    return pk.GraphDatabase(ADJACENCY, [0, 30], node_attributes=values)


FULL = with_attributes(ATTRIBUTES)


@pytest.mark.parametrize("codes", [False, True])
def test_names_match_columns(codes):
    features = NodeFeatures(normalizations=("row", "renormalized"), codes=codes, random_state=0)
    found = features.fit_transform(with_attributes(ATTRIBUTES), LABELS)
    assert found.shape == (30, len(features.get_feature_names_out()))
    assert issparse(found) == codes


def test_steps_are_means_over_neighbors():
    features = NodeFeatures(t_max=1, structure=False, targets=False)
    found = features.fit_transform(with_attributes(csr_array(ATTRIBUTES)))
    norms = np.linalg.norm(ATTRIBUTES, axis=1, keepdims=True)
    rows = ATTRIBUTES / np.where(norms > 0, norms, 1)
    step = pk.propagation.transition_matrix([ADJACENCY])
    np.testing.assert_allclose(found, np.hstack([rows, step @ rows]), atol=1e-14)


def test_sparse_and_dense_attributes_give_the_same_features():
    for seed in (0, 1):
        features = NodeFeatures(random_state=seed)
        first = features.fit_transform(with_attributes(ATTRIBUTES), LABELS)
        second = features.fit_transform(with_attributes(csr_array(ATTRIBUTES)), LABELS)
        np.testing.assert_allclose(first, second, atol=1e-12)


def test_no_node_sees_its_own_target():
    features = NodeFeatures(random_state=0)
    before = features.fit_transform(GRAPH, LABELS)
    for node in (1, 2, 5):
        changed = LABELS.copy()
        changed[node] = 1 - changed[node]
        after = features.transform(GRAPH, changed)
        columns = [i for i, name in enumerate(features.get_feature_names_out()) if "class" in name]
        masses = after[node, [i + 1 for i in columns if "class 1" in features.get_feature_names_out()[i]]]
        shift = np.abs(before[node, columns] - after[node, columns])
        # only the mean of all targets, to which rare ones are drawn, moves
        assert shift.max() <= 0.05 / (0.05 + masses.min()) / 20 + 1e-12


def test_several_targets_are_those_of_single_ones():
    several = np.column_stack([LABELS, 1 - LABELS]).astype(float)
    several[LABELS < 0] = np.nan
    several[1, 1] = np.nan
    features = NodeFeatures(t_max=0, structure=False, attributes=False)
    found = features.fit_transform(GRAPH, several)
    names = features.get_feature_names_out().tolist()
    filled = np.where(np.isnan(several[:, 1]) & (LABELS >= 0), np.nanmean(several[:, 1]), several[:, 1])
    for column, target in enumerate((several[:, 0], filled)):
        places = [i for i, name in enumerate(names) if name.startswith((f"target {column}", "known"))]
        np.testing.assert_allclose(found[:, places], features.fit_transform(GRAPH, target), atol=1e-15)
    with pytest.raises(ValueError, match="y has 2 columns, and the one in fit had 1"):
        features.transform(GRAPH, several)


def test_wide_attributes_are_projected(monkeypatch):
    monkeypatch.setattr("propkernels.nodes.inputs.MOST_NUMBERS", 10)
    monkeypatch.setattr("propkernels.nodes.inputs.N_COMPONENTS", 4)
    features = NodeFeatures(t_max=0, structure=False, targets=False, random_state=0)
    graph = with_attributes(csr_array(ATTRIBUTES))
    found = features.fit_transform(graph)
    assert found.shape == (30, 4)
    assert (features.transform(graph) == found).all()


def test_equally_frequent_labels_keep_their_columns_in_another_order_of_nodes():
    path, labels = np.array([[0, 1.0], [1, 0]]), ["b", "a"]
    one, other = (pk.check_graphs([(path, order)]) for order in (labels, labels[::-1]))
    features = NodeFeatures(t_max=1, targets=False, structure=False)
    expected = features.fit_transform(one)
    names = features.get_feature_names_out().tolist()
    np.testing.assert_array_equal(features.fit_transform(other), expected[::-1])
    assert features.get_feature_names_out().tolist() == names


def test_more_columns_than_memory_are_refused_before_they_are_named():
    graph = pk.check_graphs([(np.array([[0, 1.0], [1, 0]]), ["a", "b"])])
    features = NodeFeatures(t_max=1, targets=False).fit(graph)
    features.t_max = 10**15  # as a forged file may say
    with pytest.raises(ValueError, match="t_max must be at most"):
        features.transform(graph)
    with pytest.raises(ValueError, match="t_max must be at most"):
        features.get_feature_names_out()
    assert len(features.set_params(t_max=3).get_feature_names_out()) == features._n_columns()


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: NodeFeatures().fit(FULL).transform(with_attributes(ATTRIBUTES[:, :5])), ValueError, "had 6"),
        (
            lambda: NodeFeatures(attributes=False, structure=False, targets=False).fit(GRAPH),
            ValueError,
            "True",
        ),
        (lambda: NodeFeatures(structure=False).fit_transform(GRAPH), ValueError, "nothing to propagate"),
        *[
            (lambda w=walks: NodeFeatures(normalizations=w).fit(GRAPH), TypeError, "a list of names")
            for walks in (0.5, "row", None, {"row"})
        ],
    ],
)
def test_what_cannot_be_is_said(call, error, word):
    with pytest.raises(error, match=word):
        call()
