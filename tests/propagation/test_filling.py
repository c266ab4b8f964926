"""Missing labels are filled inside their own graph, by five steps of Eq. 3."""

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from propkernels._utils.randomness import label_keys
from propkernels.propagation import imputer
from propkernels.propagation.imputer import fill_labels
from tests import naive
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import one


def names(column, nodes):
    return [None if i < 0 else column.values[i] for i in column.ids[nodes].tolist()]


def check_twin(graphs):
    column, complete = graphs.label_column, fill_labels(graphs, graphs.label_column)
    rank = {column.values[i]: place for place, i in enumerate(label_keys(column.values).argsort().tolist())}
    for i, graph in enumerate(graphs):
        nodes = slice(graphs.graph_ptr[i], graphs.graph_ptr[i + 1])
        assert names(complete, nodes) == naive.filled(graph.adjacency, names(column, nodes), rank)


@pytest.mark.parametrize("values_in_memory", [2**22, 1])
def test_naive_twin_on_the_zoo(values_in_memory, monkeypatch):
    """However many columns are computed at a time."""
    monkeypatch.setattr(imputer, "VALUES_IN_MEMORY", values_in_memory)
    check_twin(pk.GraphDatabase.concat([dense.moderate_zoo(), one(0)]))


@settings(max_examples=60)
@given(graphs=databases(partial=True, weighted=True, directed=True, max_graphs=4))
def test_naive_twin_on_generated_graphs(graphs):
    check_twin(graphs)


def test_distributions_are_filled_as_labels_are():
    """Known ones stay; an uncertain one has a say, but is no label that holds walks."""
    path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    rows = np.ma.array([[1.0, 0], [0.2, 0.8], [0, 0], [0, 0]], mask=[[0, 0], [0, 0], [1, 1], [1, 1]])
    graphs = pk.check_graphs([(path, pk.LabelDistributions(rows, ["C", "O"]))])
    column = fill_labels(graphs, graphs.label_column)
    assert column.to_array().tolist() == [[1, 0], [0.2, 0.8], [1, 0], [1, 0]]
    assert column.known.all()
    assert column.observed.tolist() == [True, False, True, True]


def images(random_state):
    rng = np.random.default_rng(random_state)
    return [rng.integers(0, 3, (5, 6)), rng.integers(0, 3, (4, 4)), rng.integers(0, 3, (5, 6))]


@pytest.mark.parametrize("hidden", [0.05, 0.5])
def test_pixels_are_filled_as_nodes_of_the_grid_are(hidden):
    rng = np.random.default_rng(0)
    partial = [np.where(rng.random(image.shape) < hidden, -1, image) for image in images(1)]
    grids = pk.GridDatabase(partial)
    graphs = grids.to_graphs((1, 4))
    assert fill_labels(grids, grids.label_column) == fill_labels(graphs, graphs.label_column)
    kernel = pk.PropagationKernel(t_max=4, random_state=0)
    assert np.array_equal(kernel.fit_transform(grids), kernel.fit_transform(graphs))
