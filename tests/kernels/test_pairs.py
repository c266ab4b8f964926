"""Pairwise kernels: tiles, threads, and values that are not finite."""

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import AttributeKernel, GraphHopper, SubgraphMatching, pairs
from propkernels.kernels.pairs import NodeComparison, check_finite
from tests.zoo import labelled_zoo


def attributed(copies=1):
    graphs = pk.GraphDatabase.concat([labelled_zoo()] * copies)
    return graphs.with_attributes(np.column_stack([np.log1p(graphs.degrees), graphs.node_labels % 3]))


KERNELS = [
    AttributeKernel(),
    pk.ShortestPath(attributes="gaussian"),
    GraphHopper(attributes="gaussian"),
    SubgraphMatching(k=3, attributes="gaussian"),
    SubgraphMatching(k=3, connected=False),
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_tiles_and_threads_do_not_matter(kernel, monkeypatch):
    graphs = attributed()
    reference = kernel.fit_transform(graphs)
    monkeypatch.setattr(pairs, "NODES_IN_TILE", 16)
    for n_jobs in (1, 2):
        other = pickle.loads(pickle.dumps(kernel)).set_params(n_jobs=n_jobs)
        assert np.array_equal(other.fit_transform(graphs), reference)
        np.testing.assert_allclose(other.transform(graphs[5:9]), reference[5:9], rtol=1e-12)
    values = np.linalg.eigvalsh(reference)
    assert values.min() >= -1e-9 * values.max()


def test_values_must_be_finite():
    large = np.full(3, 1e308)  # the sum overflows, the values do not
    assert check_finite(large) is large
    with pytest.raises(ValueError, match="standardize=True"):
        check_finite(np.array([1.0, np.inf]))


def test_data_of_another_comparison_or_other_graphs_are_refused():
    graphs = attributed()
    hops, paths = (kernel.fit(graphs) for kernel in (GraphHopper(attributes="linear"), KERNELS[1]))
    for data, n_graphs, message in ((paths._counts, 21, "another comparison"), (hops._counts, 3, "self-sim")):
        with pytest.raises(ValueError, match=message):
            hops._coder.check_data(data, n_graphs)


EDGE = np.array([[0, 1], [1, 0]])
GRAPHS = pk.check_graphs(
    [(EDGE, ["C", "O"], [[0.0, 1.0], [0.5, np.nan]]), (EDGE, ["C", "N"], [[2.0, 3.0]] * 2)]
)
FILLED = np.array([[0.0, 1.0], [0.5, 1.0], [2.0, 3.0], [2.0, 3.0]])  # the gap by the mean of its graph


@pytest.mark.parametrize("labels", [None, "node"])
@pytest.mark.parametrize("attributes", ["gaussian", "linear", "truncated"])
def test_values(labels, attributes):
    kernel = GraphHopper(labels=labels, attributes=attributes, gamma=0.3, standardize=False)
    comparison = NodeComparison.learn(GRAPHS, kernel)
    nodes = comparison.nodes(GRAPHS)
    squares = ((FILLED[:, None] - FILLED[None]) ** 2).sum(axis=2)
    expected = FILLED @ FILLED.T if attributes == "linear" else np.exp(-0.3 * squares)
    if attributes == "truncated":
        expected = np.where(squares <= 1, expected, 0.0)
    if labels == "node":
        names = np.array(["C", "O", "C", "N"])
        expected = expected * (names[:, None] == names)
    np.testing.assert_allclose(comparison.matrix(nodes, nodes), expected, rtol=1e-14)
