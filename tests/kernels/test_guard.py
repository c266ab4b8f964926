"""Guards against slower code that no noise can trip: calls and bytes are counted, nothing is timed."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

import propkernels as pk

T_MAX = 10
BYTES_A_NODE = 50 * (T_MAX + 1)  # that features may hold at a time, as docs/measured/benchmarks.md states
BYTES_A_COUNT = 32  # that a Gram matrix may need besides itself
CALLS_A_STREAM = 150


def molecules(n_graphs):
    return pk.datasets.make_molecules(n_graphs, random_state=0).graphs


def calls_of(function, *arguments):
    """How many Python and C functions are called."""
    number = 0

    def count(frame, event, argument):
        nonlocal number
        number += event in ("call", "c_call")

    function(*arguments)  # modules are imported
    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize(
    "model",
    [
        pk.PropagationKernel(t_max=T_MAX, random_state=0),
        pk.PropagationFeatures(t_max=T_MAX, random_state=0),
        pk.WeisfeilerLehman(t_max=T_MAX),
    ],
    ids=lambda model: type(model).__name__,
)
def test_interpreted_work_does_not_grow_with_the_graphs(model):
    """Everything that is done for each graph or node is compiled."""
    few, many = (calls_of(model.fit_transform, molecules(n)) for n in (50, 400))
    assert many < few + 150  # runs of rows may be more, but not by a call per graph


def test_interpreted_work_grows_slowly_with_the_streams():
    """P2K counts hundreds of streams: how many calls each may cost."""
    graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    attributes = np.random.default_rng(0).normal(size=(graphs.n_nodes, 3))
    with_attributes = pk.GraphDatabase(
        graphs.adjacency, graphs.graph_ptr, node_labels=graphs.node_labels, node_attributes=attributes
    )
    model = pk.P2K(attributes=pk.propagation.GaussianMixtures(n_sample_points=50), t_max=4, random_state=0)
    assert calls_of(model.fit_transform, with_attributes) <= CALLS_A_STREAM * 50 * 5


def test_memory_of_features_is_bounded_by_the_nodes():
    graphs = molecules(4000)
    model = pk.PropagationFeatures(t_max=T_MAX, random_state=0)
    model.fit_transform(graphs[:10])
    tracemalloc.start()
    model.fit_transform(graphs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= BYTES_A_NODE * graphs.n_nodes


@pytest.mark.slow
def test_gram_holds_one_matrix_and_little_more():
    graphs = molecules(1500)
    model = pk.PropagationKernel(t_max=T_MAX, random_state=0).fit(graphs)
    counts = [stream.counts for stream in model._counts]
    model._base_kernel.square(model._counts)
    tracemalloc.start()
    model._base_kernel.square(model._counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    entries = sum(part.nnz for part in counts)
    assert peak <= 8 * len(graphs) ** 2 + BYTES_A_COUNT * entries
