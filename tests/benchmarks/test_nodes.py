"""The planted graph, and what is kept of a fit."""

import numpy as np
import pytest

from benchmarks import nodes


def test_most_edges_of_the_planted_graph_are_within_groups():
    graph, groups = nodes.planted(2000)
    rows, columns = graph.adjacency.tocoo().coords
    assert graph.attribute_matrix.shape == (2000, 100)
    assert np.mean(groups[rows] == groups[columns]) == pytest.approx(0.7 + 0.3 / 10, abs=0.02)
    assert graph.n_edges == pytest.approx(20_000, rel=0.1)  # parallel edges are one


@pytest.mark.slow
def test_a_fit_is_kept_and_shown():
    found = nodes.fit(nodes.PLANTED, 1500)
    assert (found.n_nodes, found.n_attributes) == (1500, 100)
    assert found.processor_seconds > 0
    assert found.megabytes_before <= found.megabytes_peak
    assert nodes.shown(found).startswith("planted")
