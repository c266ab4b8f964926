"""LabelImputer and its convergence."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import propkernels as pk
from propkernels.propagation import (
    AbsorbingWalk,
    BeliefPropagation,
    Diffusion,
    LabelImputer,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
)
from propkernels.propagation.imputer import run_to_convergence
from propkernels.propagation.initial import initial_distributions, label_column, learn_prior
from tests.propagation import dense
from tests.strategies import databases, permute_nodes
from tests.zoo import cycle_edges, hide_labels, labelled_zoo, one, path_edges, zoo


def run(graphs, scheme=None, tolerance=1e-12, max_steps=10_000, prior="uniform"):
    column = label_column(graphs, "node")
    initial = initial_distributions(column, learn_prior(column, prior))
    return run_to_convergence(graphs, scheme or LabelPropagation(), initial, tolerance, max_steps)


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
        computed = run(graphs, Diffusion(), 1e-6, 7)
    assert computed.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]


def test_graphs_without_nodes_or_without_labels():
    graphs = pk.GraphDatabase.concat(
        [one(0), one(2, [(0, 1)], [0, None]), one(0), one(3, path_edges(3), [None] * 3)]
    )
    assert run(graphs).tolist() == [[1.0]] * 5
    graphs = pk.GraphDatabase.concat([graphs, one(1, [], [1])])
    assert run(graphs).tolist() == [[1, 0], [1, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme",
    [
        BeliefPropagation(),
        LabelSpreading(),
        PartialAbsorption(),
        AbsorbingWalk(),
        Diffusion(0.5),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_other_schemes_reach_a_fixed_point(scheme):
    graphs = one(6, [*cycle_edges(5), (4, 5)], [0, None, 1, None, None, 2])
    computed = run(graphs, scheme, 1e-10)
    reference = dense.library_history(graphs, scheme, 3000)[-1]
    assert np.allclose(computed, reference, atol=1e-7)


def impute(graphs, **parameters):
    return LabelImputer(**parameters).fit_transform(graphs).node_labels.tolist()


def test_unobserved_nodes_take_the_nearest_label_on_a_path():
    graphs = one(7, path_edges(7), ["C", None, None, None, None, None, "O"])
    reference = ["C", "C", "C", "C", "O", "O", "O"]  # the middle is a tie, and both are equally frequent
    assert impute(graphs) == reference


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


def test_equally_frequent_labels_are_taken_by_their_text_in_any_order():
    tie = one(3, path_edges(3), ["a", None, "b"])
    mirrored = one(3, path_edges(3), ["b", None, "a"])
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


def test_everything_else_of_the_graphs_is_kept():
    graphs = one(4, cycle_edges(4), [0, None, 1, None], attributes=np.arange(4.0), edge_labels=list("abcd"))
    computed = LabelImputer().fit_transform(graphs)
    assert computed.with_labels(graphs.label_column) == graphs


def test_complete_labels_stay_as_they_are():
    assert LabelImputer().fit_transform(labelled_zoo()) == labelled_zoo()


def test_graphs_come_out_of_a_batch_as_they_do_alone():
    graphs = pk.GraphDatabase.concat([dense.partial_zoo(), one(3, path_edges(3), ["new", None, "labels"])])
    imputer = LabelImputer().fit(dense.partial_zoo())
    batch = imputer.transform(graphs)
    alone = pk.GraphDatabase.concat([imputer.transform(graphs[[i]]) for i in range(len(graphs))])
    assert batch == alone
    assert imputer.transform(graphs[::-1]) == batch[::-1]


def test_long_databases_are_worked_through_in_runs(monkeypatch):
    reference = LabelImputer().fit_transform(dense.partial_zoo())
    monkeypatch.setattr("propkernels.propagation.imputer.VALUES_IN_MEMORY", 50)
    assert LabelImputer().fit_transform(dense.partial_zoo()) == reference


@settings(max_examples=12)
@given(graphs=databases(partial=True, directed=True))
def test_node_order_does_not_matter(graphs):
    if not graphs.label_values:
        return
    computed = LabelImputer().fit_transform(permute_nodes(graphs, np.random.default_rng(0)))
    reference = permute_nodes(LabelImputer().fit_transform(graphs), np.random.default_rng(0))
    assert computed == reference


def test_labels_known_at_fit_fill_graphs_that_have_none():
    imputer = LabelImputer().fit([(np.zeros((3, 3)), ["a", "b", "b"])])
    computed = imputer.transform([np.zeros((2, 2)), (np.ones((2, 2)), [None, "c"])])
    assert computed.node_labels.tolist() == ["b", "b", "c", "c"]
    assert imputer.frequencies_ == {"a": pytest.approx(1 / 3), "b": pytest.approx(2 / 3)}


def test_a_prior_decides_where_nothing_else_does():
    graphs = one(4, [(0, 1)], ["a", "b", None, None])
    assert impute(graphs, prior={"a": 0.4, "b": 0.6})[2:] == ["b", "b"]
    assert impute(graphs, prior=[0.6, 0.4])[2:] == ["a", "a"]


def test_uncertain_labels_become_certain():
    rows = np.ma.array([[1.0, 0], [0.3, 0.7], [0, 0]], mask=[[0, 0], [0, 0], [1, 1]])
    graphs = pk.GraphDatabase(np.zeros((3, 3)), [0, 3], pk.LabelDistributions(rows, ["a", "b"]))
    assert impute(graphs) == ["a", "b", "a"]


def test_in_a_pipeline_with_a_kernel():
    rng = np.random.default_rng(0)
    rings = [
        (np.roll(np.eye(6), 1, 1) + np.roll(np.eye(6), -1, 1), rng.choice([c, c, c, 2], 6))
        for c in (0, 1) * 10
    ]
    graphs, target = hide_labels(pk.check_graphs(rings), 0.5, random_state=0), [0, 1] * 10
    kernel = pk.PropagationKernel(propagation="diffusion", t_max=1, random_state=0)
    model = make_pipeline(LabelImputer(), kernel, SVC(kernel="precomputed")).fit(graphs, target)
    assert model.score(graphs, target) > 0.9
    assert model.predict(graphs[:3]).shape == (3,)


def test_clone_and_pickle():
    imputer = LabelImputer(propagation=LabelSpreading(0.5), tolerance=1e-4, max_steps=50)
    assert clone(imputer).get_params()["propagation__alpha"] == 0.5
    imputer.fit(dense.partial_zoo())
    reference = imputer.transform(dense.partial_zoo())
    assert pickle.loads(pickle.dumps(imputer)).transform(dense.partial_zoo()) == reference


def test_too_few_steps_warn():
    graphs = one(20, path_edges(20), [0, *[None] * 18, 1])
    imputer = LabelImputer(max_steps=3).fit(graphs)
    with pytest.warns(ConvergenceWarning, match="after 3 steps"):
        assert imputer.transform(graphs).label_column.observed.all()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"tolerance": 0}, ValueError, "tolerance must be a finite number above 0, got 0"),
        ({"tolerance": "tiny"}, TypeError, "tolerance must be a number, got 'tiny'"),
        ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
        ({"max_steps": 1.5}, TypeError, r"max_steps must be a whole number, got 1\.5"),
        ({"propagation": "magic"}, ValueError, "propagation must be one of .*; got 'magic'"),
        ({"propagation": LabelSpreading(2)}, ValueError, "alpha must be at least 0 and below 1, got 2"),
        ({"prior": "flat"}, ValueError, "prior must be one of 'uniform', 'frequency'; got 'flat'"),
        ({"prior": [1, 2]}, ValueError, r"prior has shape \(2,\) but the training graphs have 3 labels"),
    ],
)
def test_bad_parameters_leave_a_fitted_imputer_as_it_was(parameters, error, message):
    imputer = LabelImputer().fit(labelled_zoo()[:3])
    state = {name: value for name, value in vars(imputer).items() if name.endswith("_")}
    imputer.set_params(**parameters)
    with pytest.raises(error, match=f"^{message}$"):
        imputer.fit(one(5, cycle_edges(5), [0, 1, 2, None, None]))
    assert {name: value for name, value in vars(imputer).items() if name.endswith("_")} == state


def test_nothing_to_fill_in_with():
    for graphs in (zoo()["unobserved labels"], zoo()["no labels"]):
        imputer = LabelImputer()
        with pytest.raises(ValueError, match=r"^no node label is observed in the graphs: give at least one"):
            imputer.fit(graphs)
    with pytest.raises(NotFittedError):
        imputer.transform(labelled_zoo())


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
