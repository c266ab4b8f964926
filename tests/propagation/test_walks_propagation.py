"""Label propagation, both clamps."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given

import propkernels as pk
from tests import naive
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import one, path_edges

CLAMPS, DIRECTIONS = ("after", "before"), ("follow", "reverse", "both")


@cache
def half_labelled_mutag():
    return pk.datasets.hide_labels(pk.datasets.load("MUTAG").graphs, 0.5, random_state=0)


@cache
def exact_mutag(clamp):
    return naive.propagation_kernels(half_labelled_mutag(), 10, clamp=clamp)


# Seeds for which no two different distributions of the millions of pairs meet in one bin, which is a matter
# of chance (about one seed in eight lets some meet): equality must be exact.
@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
@pytest.mark.parametrize("clamp", CLAMPS)
def test_equal_to_exact_arithmetic_on_half_labelled_mutag(data_folder, clamp, metric, seed):
    reference = exact_mutag(clamp)
    kernel = pk.PropagationKernel(
        propagation=pk.LabelPropagation(clamp), metric=metric, t_max=10, bin_width=1e-8, random_state=seed
    )
    computed = kernel.fit_transform_cumulative(half_labelled_mutag())
    assert np.array_equal(computed, reference)


@pytest.mark.data
def test_the_two_clamps_are_different_kernels(data_folder):
    after, before = exact_mutag("after"), exact_mutag("before")
    assert np.array_equal(after[0], before[0])
    assert not np.array_equal(after[1], before[1])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("clamp", CLAMPS)
def test_dense_twin_on_the_zoo(clamp, direction):
    graphs = dense.partial_zoo()
    start = dense.start(graphs)
    step = dense.label_propagation(start, clamp, direction)
    reference = dense.dense_history(step, start.distributions, 4)
    computed = dense.library_history(graphs, pk.LabelPropagation(clamp, direction=direction), 4)
    assert np.allclose(computed, reference, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("clamp", CLAMPS)
@given(graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3))
def test_dense_twin_on_generated_graphs(clamp, graphs):
    if not graphs.label_values:
        return
    start = dense.start(graphs)
    reference = dense.dense_history(dense.label_propagation(start, clamp), start.distributions, 4)
    computed = dense.library_history(graphs, pk.LabelPropagation(clamp), 4)
    assert np.allclose(computed, reference, atol=1e-12)
    assert (computed >= 0).all()
    assert np.allclose(computed.sum(axis=2), 1)


def test_after_holds_observed_nodes_at_every_step():
    graphs = dense.partial_zoo()
    computed = dense.library_history(graphs, pk.LabelPropagation(), 6)
    observed = graphs.label_column.observed
    assert np.array_equal(computed[1:, observed], computed[:-1, observed])


def test_before_shows_the_mean_of_the_neighbours_at_observed_nodes():
    graphs = one(3, path_edges(3), [0, 1, None])
    computed = dense.library_history(graphs, pk.LabelPropagation("before"), 2)
    assert np.allclose(computed[1], [[0, 1], [0.75, 0.25], [0, 1]])
    assert np.allclose(computed[2], [[0, 1], [0.5, 0.5], [0, 1]])


def test_without_missing_labels_nothing_moves():
    graphs = one(4, path_edges(4), [0, 1, 0, 2])
    computed = dense.library_history(graphs, pk.LabelPropagation(), 3)
    assert (computed == computed[0]).all()


@pytest.mark.parametrize("clamp", CLAMPS)
def test_a_graph_without_observed_labels_stays_at_the_prior(clamp):
    graphs = pk.GraphDatabase.concat(
        [one(3, path_edges(3), [0, 1, 1]), one(4, path_edges(4), np.full(4, -1))]
    )
    computed = dense.library_history(graphs, pk.LabelPropagation(clamp), 3, prior={0: 1, 1: 3})
    assert np.allclose(computed[:, 3:], [0.25, 0.75])
    kernel = pk.PropagationKernel(propagation=pk.LabelPropagation(clamp), t_max=3, random_state=0)
    assert kernel.fit_transform(graphs)[1, 1] == 4 * 4**2


@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_a_database_without_observed_labels_counts_nodes(clamp, metric):
    graphs = pk.GraphDatabase.concat([one(n, path_edges(n), np.full(n, -1)) for n in (1, 3, 4)])
    kernel = pk.PropagationKernel(
        propagation=pk.LabelPropagation(clamp), metric=metric, t_max=2, random_state=0
    )
    sizes = np.array([1, 3, 4])
    assert np.array_equal(kernel.fit_transform(graphs), 3 * np.outer(sizes, sizes))
    new = kernel.transform([(np.zeros((2, 2)), [-1, -1]), (np.zeros((2, 2)), ["new", "labels"])])
    assert new.tolist() == [[6.0, 18.0, 24.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (pk.LabelPropagation("sideways"), "clamp must be one of 'after', 'before'; got 'sideways'"),
        (
            pk.LabelPropagation(direction="up"),
            "direction must be one of 'follow', 'reverse', 'both'; got 'up'",
        ),
    ],
)
def test_bad_parameters(scheme, message):
    kernel = pk.PropagationKernel(propagation=scheme)
    with pytest.raises(ValueError, match=f"^{message}$"):
        kernel.fit(dense.partial_zoo())
    assert not hasattr(kernel, "coder_")
