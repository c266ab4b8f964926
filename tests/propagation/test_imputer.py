"""LabelImputer and its convergence."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import propkernels as pk
from propkernels.propagation import Diffusion, LabelImputer, LabelPropagation
from propkernels.propagation.imputer import run_to_convergence
from propkernels.propagation.initial import initial_distributions, label_column, learn_prior
from tests.propagation import dense
from tests.zoo import cycle_edges, hide_labels, one, path_edges


def run(graphs, scheme=None, tolerance=1e-12, max_steps=10_000, prior="uniform"):
    column = label_column(graphs, "node")
    initial = initial_distributions(column, learn_prior(column, prior))
    return run_to_convergence(graphs, scheme or LabelPropagation(), initial, tolerance, max_steps)


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
        computed = run(graphs, Diffusion(), 1e-6, 7)
    assert computed.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]


def impute(graphs, **parameters):
    return LabelImputer(**parameters).fit_transform(graphs).node_labels.tolist()


def test_the_most_probable_label_of_the_harmonic_solution():
    graphs = hide_labels(one(12, [*cycle_edges(12), (0, 6), (2, 9), (4, 11)]), 0.5, random_state=1)
    start = dense.start(graphs)
    final = dense.dense_history(dense.label_propagation(start), start.distributions, 2000)[-1]
    reference = np.array(start.values)[final.argmax(axis=1)]
    clear = np.sort(final, axis=1)[:, -1] - np.sort(final, axis=1)[:, -2] > 1e-6
    assert clear.sum() > 8
    assert np.array_equal(np.array(impute(graphs, tolerance=1e-12))[clear], reference[clear])


def test_ties_and_components_without_labels_take_the_more_frequent_label():
    tie = one(3, path_edges(3), ["a", None, "b"])
    nothing = one(2, [(0, 1)], [None, None])
    for frequent in ("a", "b"):
        graphs = pk.GraphDatabase.concat([tie, nothing, one(1, [], [frequent])])
        assert impute(graphs) == ["a", frequent, "b", frequent, frequent, frequent]
    mirrored = one(3, path_edges(3), ["b", None, "a"])  # equally frequent: by their text, in any order
    assert impute(pk.GraphDatabase.concat([tie, mirrored])) == ["a", "a", "b", "b", "a", "a"]
    assert impute(pk.GraphDatabase.concat([mirrored, tie])) == ["b", "a", "a", "a", "a", "b"]


def test_observed_labels_are_kept_whatever_the_scheme():
    graphs = dense.partial_zoo()
    observed = graphs.label_column.observed
    for propagation in (
        "label_propagation",
        "partial_absorption",
        "label_spreading",
        "belief_propagation",
        LabelPropagation("before"),
        Diffusion(0.5),
    ):
        imputer = LabelImputer(propagation=propagation, max_steps=3000, tolerance=1e-4)
        computed = imputer.fit_transform(graphs)
        assert computed.label_column.observed.all()
        assert np.array_equal(computed.node_labels[observed], graphs.node_labels[observed])


def test_labels_known_at_fit_fill_graphs_that_have_none():
    imputer = LabelImputer().fit([(np.zeros((3, 3)), ["a", "b", "b"])])
    computed = imputer.transform([np.zeros((2, 2)), (np.ones((2, 2)), [None, "c"])])
    assert computed.node_labels.tolist() == ["b", "b", "c", "c"]
    assert imputer.frequencies_ == {"a": pytest.approx(1 / 3), "b": pytest.approx(2 / 3)}


def test_a_prior_decides_where_nothing_else_does():
    graphs = one(4, [(0, 1)], ["a", "b", None, None])
    assert impute(graphs, prior={"a": 0.4, "b": 0.6})[2:] == ["b", "b"]
    assert impute(graphs, prior=[0.6, 0.4])[2:] == ["a", "a"]


@pytest.mark.parametrize("prior", ["uniform", "frequency"])
def test_labels_that_a_graph_lacks_change_nothing_but_the_time(prior):
    """Columns that only the prior fills are computed once; the answer is that of all columns."""
    graphs = pk.GraphDatabase.concat([dense.partial_zoo(), one(9, [], [*"pqrstuvw", None])])
    imputer = LabelImputer(prior=prior).fit(graphs)
    initial = initial_distributions(label_column(graphs, "node"), imputer._prior)
    final = run_to_convergence(graphs, imputer._scheme, initial, imputer.tolerance, imputer.max_steps)
    order = sorted(initial.values, key=lambda value: (-imputer.frequencies_.get(value, 0), repr(value)))
    column = {value: i for i, value in enumerate(initial.values)}
    reference = [
        next(value for value in order if row[column[value]] >= row.max() - imputer.tolerance) for row in final
    ]
    computed = [imputer.transform(graphs[[i]]).node_labels for i in range(len(graphs))]
    assert np.concatenate(computed).tolist() == reference
