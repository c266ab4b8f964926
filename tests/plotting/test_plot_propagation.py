"""plot_propagation: one drawing per iteration, and bins that refine each other."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.check import check_graph
from propkernels.plotting.plot_propagation import node_bins, plot_propagation


def test_one_panel_per_iteration():
    axes = plot_propagation(nx.path_graph(5), t_max=2)
    assert [axis.get_title() for axis in axes] == ["t = 0: 2 bins", "t = 1: 2 bins", "t = 2: 2 bins"]


def test_bins_of_a_path_are_symmetric_and_refined():
    bins = node_bins(pk.WeisfeilerLehmanFeatures(t_max=2), check_graph(nx.path_graph(5)))
    assert [row.tolist() for row in bins] == [[0, 1, 1, 1, 0], [0, 1, 2, 1, 0], [0, 1, 2, 1, 0]]
    assert all(np.array_equal(row, row[::-1]) for row in bins)


def test_several_graphs_are_refused():
    with pytest.raises(ValueError, match=r"draws one graph, got 2: pass graphs\[i\]"):
        plot_propagation(pk.datasets.make_molecules(2, random_state=0).graphs)
