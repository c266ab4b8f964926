"""The paper's Figure "Propagation Kernel Computation": two graphs, binary labels, some unlabelled.

The figure prints label distributions as colours, bins as boxes, and the contributions 12 at t = 0 and 10 at
t = 1. It shows the observed nodes changing colour from t = 0 to t = 1, so its step pushes labels back
before it, Eq. (LP).
"""

from fractions import Fraction

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes.codes import CodeStreams
from propkernels.counts.counters import count_streams
from propkernels.propagation import LabelPropagation
from tests.propagation.dense import library_history

# nodes a1..a6 and b1..b6 of the figure, numbered from 0; None: unlabelled
EDGES_I = [(1, 0), (2, 1), (3, 1), (4, 0), (4, 1), (4, 3), (5, 3)]
LABELS_I = [0, 0, None, 1, None, None]
EDGES_J = [(1, 0), (4, 0), (4, 2), (4, 3), (5, 2), (5, 3)]
LABELS_J = [None, 1, 0, None, 1, 0]

# bins as intervals of P(label 1), closed on the left: the figure's boxes, in its order
BINS = {
    0: [(0.0, 0.1), (0.9, 1.1), (0.4, 0.6)],
    1: [(0.45, 0.6), (0.9, 1.1), (0.2, 0.45), (0.0, 0.1)],
}
FEATURES = {0: [[2, 1, 3], [2, 2, 2]], 1: [[1, 1, 3, 1], [3, 1, 2, 0]]}
CONTRIBUTIONS = {0: 12, 1: 10}
PROBABILITIES_I = ["1/4", "1/2", "0", "1/3", "1/3", "1"]
PROBABILITIES_J = ["1", "1/2", "1/2", "1/2", "1/3", "1/4"]


def figure():
    graphs = []
    for edges, labels in ((EDGES_I, LABELS_I), (EDGES_J, LABELS_J)):
        adjacency = np.zeros((6, 6))
        for i, j in edges:
            adjacency[i, j] = adjacency[j, i] = 1
        graphs.append((adjacency, labels))
    return pk.check_graphs(graphs)


def bin_of(probability, t):
    (found,) = [i for i, (low, high) in enumerate(BINS[t]) if low <= probability < high]
    return found


def test_distributions_are_those_of_the_figure():
    reference = np.array([float(Fraction(p)) for p in PROBABILITIES_I + PROBABILITIES_J])
    computed = library_history(figure(), LabelPropagation(clamp="before"), 1)[1]
    assert np.allclose(computed[:, 1], reference, atol=1e-15)
    assert np.allclose(computed.sum(axis=1), 1)


@pytest.mark.parametrize("t", [0, 1])
def test_counts_and_contributions_are_those_of_the_figure(t):
    graphs = figure()
    probabilities = library_history(graphs, LabelPropagation(clamp="before"), 1)[t][:, 1]
    codes = np.array([[bin_of(p, t) for p in probabilities]])
    streams = CodeStreams(codes, np.array([t]), np.ones(1))
    (counted,) = count_streams([streams], graphs.graph_ptr, None)
    counts = counted.counts.toarray()
    computed = np.zeros_like(FEATURES[t])
    computed[:, counted.codes] = counts
    assert computed.tolist() == FEATURES[t]
    assert counts[0] @ counts[1] == CONTRIBUTIONS[t]


def test_the_kernel_itself_at_time_zero():
    """At t = 0 the three distributions are far apart: any narrow bin is a box of the figure."""
    kernel = pk.PropagationKernel(propagation=LabelPropagation(clamp="before"), t_max=0, random_state=0)
    assert kernel.fit_transform(figure())[0, 1] == CONTRIBUTIONS[0]


def test_narrow_bins_tell_more_apart_than_the_figure():
    """1/4 and 1/3 share a box of the figure; exact bins take them apart: 1 * 3 + 1 * 1 + (1 * 1 + 2 * 1)."""
    kernel = pk.PropagationKernel(
        propagation=LabelPropagation(clamp="before"), t_max=1, bin_width=1e-8, random_state=0
    )
    assert kernel.fit_transform(figure())[0, 1] == CONTRIBUTIONS[0] + 7
