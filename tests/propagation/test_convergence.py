"""Running a scheme to its end."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import propkernels as pk
from propkernels.propagation.convergence import run_to_convergence
from propkernels.propagation.initial import initial_distributions, label_column, learn_prior
from tests.propagation import dense
from tests.zoo import cycle_edges, one, path_edges


def run(graphs, scheme=None, tolerance=1e-12, max_steps=10_000, prior="uniform"):
    column = label_column(graphs, "node")
    initial = initial_distributions(column, learn_prior(column, prior))
    return run_to_convergence(graphs, scheme or pk.LabelPropagation(), initial, tolerance, max_steps)


def harmonic(graphs):
    """The closed form of Zhu et al. 2003: P_U = (I - T_UU)^{-1} T_UL P_L, for connected graphs."""
    start = dense.start(graphs)
    transition, unknown = dense.walk(start.adjacency), ~start.observed
    solution = start.distributions.copy()
    inner = np.eye(unknown.sum()) - transition[np.ix_(unknown, unknown)]
    border = transition[np.ix_(unknown, start.observed)] @ start.distributions[start.observed]
    solution[unknown] = np.linalg.solve(inner, border)
    return solution


def test_label_propagation_converges_to_the_harmonic_solution():
    for graphs in (
        one(6, [*cycle_edges(5), (4, 5)], [0, None, 1, None, None, 2]),
        one(5, path_edges(5), [0, None, None, None, 1]),
        one(4, cycle_edges(4), [0, None, 1, None], weights=[0.5, 2.0, 1.25, 3.0]),
    ):
        assert np.allclose(run(graphs), harmonic(graphs), atol=1e-9)


def test_each_graph_stops_by_itself():
    quick, slow = one(3, path_edges(3), [0, None, 1]), one(12, path_edges(12), [0, *[None] * 10, 1])
    together = run(pk.GraphDatabase.concat([quick, slow, quick]), tolerance=1e-3)
    assert np.array_equal(together[:3], run(quick, tolerance=1e-3))
    assert np.array_equal(together[3:15], run(slow, tolerance=1e-3))
    assert np.array_equal(together[15:], run(quick, tolerance=1e-3))


def test_a_graph_that_does_not_settle_warns_and_keeps_its_last_state():
    """A walk on an edge swaps its ends for ever, while the other graph settles at once."""
    graphs = pk.GraphDatabase.concat([one(2, [(0, 1)], [0, 1]), one(2, [(0, 1)], [0, 0])])
    message = "^1 graph still changed by more than 1e-06 after 7 steps: raise max_steps or the tolerance$"
    with pytest.warns(ConvergenceWarning, match=message):
        computed = run(graphs, pk.Diffusion(), 1e-6, 7)
    assert computed.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]


def test_graphs_without_nodes_or_without_labels():
    graphs = pk.GraphDatabase.concat(
        [one(0), one(2, [(0, 1)], [0, None]), one(0), one(3, path_edges(3), [None] * 3)]
    )
    assert run(graphs).tolist() == [[1.0]] * 5
    graphs = pk.GraphDatabase.concat([graphs, one(1, [], [1])])
    assert run(graphs).tolist() == [[1, 0], [1, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0, 1]]


@pytest.mark.parametrize(
    "scheme",
    [
        pk.BeliefPropagation(),
        pk.LabelSpreading(),
        pk.PartialAbsorption(),
        pk.AbsorbingWalk(),
        pk.Diffusion(0.5),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_other_schemes_reach_a_fixed_point(scheme):
    graphs = one(6, [*cycle_edges(5), (4, 5)], [0, None, 1, None, None, 2])
    computed = run(graphs, scheme, 1e-10)
    reference = dense.library_history(graphs, scheme, 3000)[-1]
    assert np.allclose(computed, reference, atol=1e-7)
