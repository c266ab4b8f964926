"""Absorbing walks with a chosen set."""

import numpy as np
import pytest
from hypothesis import given

import propkernels as pk
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import cycle_edges, labelled_zoo, one, path_edges, zoo


def carries(graphs, *labels):
    column = graphs.label_column
    return np.array([i >= 0 and column.values[i] in labels for i in column.ids])


def first_node_of_each(graphs):
    mask = np.zeros(graphs.n_nodes, dtype=bool)
    mask[graphs.graph_ptr[:-1][graphs.graph_sizes > 0]] = True
    return mask


SETS = {
    "observed": ("observed", lambda graphs: graphs.label_column.observed),
    "labels": ({0, 2}, lambda graphs: carries(graphs, 0, 2)),
    "labels of another type": ([np.float32(1.0)], lambda graphs: carries(graphs, 1)),
    "no labels": ((), lambda graphs: carries(graphs)),
    "function": (first_node_of_each, first_node_of_each),
}


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
@pytest.mark.parametrize("name", SETS)
def test_dense_twin_on_the_zoo(name, direction):
    absorbing, held = SETS[name]
    graphs = dense.partial_zoo()
    start = dense.start(graphs)
    step = dense.absorbing_walk(start, held(graphs), direction)
    reference = dense.dense_history(step, start.distributions, 4)
    computed = dense.library_history(graphs, pk.AbsorbingWalk(absorbing, direction=direction), 4)
    assert np.allclose(computed, reference, atol=1e-12)


@pytest.mark.slow
@given(graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3))
def test_dense_twin_on_generated_graphs(graphs):
    if not graphs.label_values:
        return
    start = dense.start(graphs)
    reference = dense.dense_history(
        dense.absorbing_walk(start, carries(graphs, 0, 1)), start.distributions, 4
    )
    computed = dense.library_history(graphs, pk.AbsorbingWalk({0, 1}), 4)
    assert np.allclose(computed, reference, atol=1e-12)
    assert np.allclose(computed.sum(axis=2), 1)


def test_absorbing_observed_nodes_is_label_propagation():
    for metric in ("tv", "hellinger"):
        kernels = [
            pk.PropagationKernel(propagation=name, metric=metric, random_state=0).fit_transform(
                dense.partial_zoo()
            )
            for name in ("absorbing_walk", "label_propagation")
        ]
        assert np.array_equal(*kernels)


def test_absorbing_nowhere_is_diffusion():
    kernels = [
        pk.PropagationKernel(propagation=scheme, random_state=0).fit_transform(labelled_zoo())
        for scheme in (pk.AbsorbingWalk(()), pk.Diffusion())
    ]
    assert np.array_equal(*kernels)


def test_a_walk_ends_at_the_first_node_of_the_set():
    """From the middle of C - C - O - C - N, half of the walks end at O; they never pass it."""
    graphs = one(5, path_edges(5), ["C", "C", "O", "C", "N"])
    computed = dense.library_history(graphs, pk.AbsorbingWalk({"O", "N"}), 200)[-1]
    assert np.allclose(computed, [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]])


def test_degrees_may_name_the_set():
    """With degrees as labels, the leaves of a star absorb: from t = 1 on all nodes look like leaves."""
    kernel = pk.PropagationKernel(propagation=pk.AbsorbingWalk({1}), labels="degree", t_max=1, random_state=0)
    assert kernel.fit_transform(zoo()["star"][:]).tolist() == [[(36 + 1) + 49.0]]


def test_uncertain_labels_absorb_where_they_are_certain():
    rows = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.2, 0.8]])
    graphs = pk.GraphDatabase(np.ones((4, 4)) - np.eye(4), [0, 4], pk.LabelDistributions(rows))
    computed = dense.library_history(graphs, pk.AbsorbingWalk({0}), 1)
    assert np.array_equal(computed[1, 0], [1, 0])
    assert np.allclose(computed[1, 2], rows[[0, 1, 3]].mean(axis=0))


def test_graphs_without_labels_absorb_nowhere_alone_as_in_a_batch():
    train = one(5, cycle_edges(5), [0, 1, 2, 0, 1])
    new = pk.GraphDatabase.concat([one(3, path_edges(3), None), one(4, cycle_edges(4), [0, 0, 3, 1])])
    kernel = pk.PropagationKernel(propagation=pk.AbsorbingWalk({0}), random_state=0).fit(train)
    alone = kernel.transform([one(3, path_edges(3), None)[0]])
    assert np.array_equal(alone, kernel.transform(new)[:1])


@pytest.mark.parametrize(
    ("absorbing", "error", "message"),
    [
        (
            "C",
            TypeError,
            "absorbing must be 'observed', a collection of labels, or a function of the graphs; got 'C'",
        ),
        (
            3,
            TypeError,
            "absorbing must be 'observed', a collection of labels, or a function of the graphs; got 3",
        ),
        (
            lambda graphs: np.ones(3),
            ValueError,
            "the function absorbing must return one bool per node",
        ),
        (lambda graphs: [True], ValueError, "the function absorbing must return one bool per node"),
    ],
)
def test_bad_sets(absorbing, error, message):
    kernel = pk.PropagationKernel(propagation=pk.AbsorbingWalk(absorbing))
    with pytest.raises(error, match=f"^{message}$"):
        kernel.fit(labelled_zoo())
    assert not hasattr(kernel, "coder_")
