"""P_0: labels, uncertain labels and priors, as PropagationKernel and PropagationFeatures take them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import coo_array, csr_array, csr_matrix

import propkernels as pk
from propkernels.propagation import Diffusion, LabelPropagation, LabelSpreading, PartialAbsorption
from propkernels.propagation.filling import fill_labels
from propkernels.propagation.initial import (
    initial_distributions,
    label_column,
    learn_prior,
    log_degree_column,
)
from tests.propagation import dense
from tests.strategies import databases, permute_nodes
from tests.zoo import cycle_edges, labelled_zoo, one, path_edges, zoo

SCHEMES = (
    "auto",
    "diffusion",
    "label_propagation",
    "partial_absorption",
    "label_spreading",
    "belief_propagation",
)
METRICS = ("tv", "hellinger")


def kernel(graphs, **parameters):
    defaults = {"t_max": 4, "random_state": 0}
    return pk.PropagationKernel(**{**defaults, **parameters}).fit_transform_cumulative(graphs)


def starting_points(graphs, prior="uniform"):
    """P_0, columns in the order of the labels that occur."""
    return dense.library_history(graphs, Diffusion(), 0, prior)[0]


def as_distributions(graphs):
    """The same labels, as rows of a matrix."""
    column = graphs.label_column
    rows = np.zeros((len(column), len(column.values)))
    rows[column.observed, column.ids[column.observed]] = 1
    labels = pk.LabelDistributions(rows, column.values, known=column.observed)
    return graphs.with_labels(labels)


# deltas are labels


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("propagation", SCHEMES)
def test_deltas_give_bit_for_bit_what_labels_give(propagation, metric):
    graphs = dense.partial_zoo()
    parameters = {"propagation": propagation, "metric": metric, "bin_width": 1e-10}
    reference = kernel(graphs, **parameters)
    assert np.array_equal(kernel(as_distributions(graphs), **parameters), reference)


@pytest.mark.parametrize("prior", ["uniform", "frequency"])
def test_deltas_and_labels_in_one_database(prior):
    graphs = dense.partial_zoo()
    mixed = [as_distributions(graphs[[i]]) if i % 2 else graphs[[i]] for i in range(len(graphs))]
    reference = kernel(graphs, prior=prior, bin_width=1e-10)
    assert np.array_equal(kernel(pk.GraphDatabase.concat(mixed), prior=prior, bin_width=1e-10), reference)


@pytest.mark.slow
@settings(max_examples=12)
@given(graphs=databases(labelled="any", partial=True, weighted=True, directed=True))
def test_deltas_give_what_labels_give_on_generated_graphs(graphs):
    reference = kernel(graphs, bin_width=1e-10)
    assert np.array_equal(kernel(as_distributions(graphs), bin_width=1e-10), reference)


def test_a_kernel_fitted_on_labels_takes_distributions():
    graphs = dense.partial_zoo()
    fitted = pk.PropagationKernel(random_state=0).fit(graphs)
    assert np.array_equal(fitted.transform(as_distributions(graphs)), fitted.transform(graphs))


# uncertain labels


ROWS = np.array([[1.0, 0, 0], [0.25, 0.75, 0], [0.2, 0.3, 0.5], [0, 0, 1.0], [0, 1.0, 0]])


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        4 * ROWS,
        ROWS * np.array([[2], [3], [1e-3], [7], [1e6]]),
        csr_array(ROWS),
        csr_matrix(4 * ROWS),
        coo_array(ROWS),
        np.ma.array(ROWS, mask=np.zeros_like(ROWS)),
        (8 * 20 * ROWS).astype(int),
    ],
    ids=["dense", "scaled", "scaled by row", "csr", "csr matrix", "coo", "masked array", "integers"],
)
def test_rows_in_all_forms(rows):
    graphs = one(5, cycle_edges(5), rows)
    assert np.allclose(starting_points(graphs), ROWS, atol=1e-15)
    assert graphs.label_column.observed.tolist() == [True, False, False, True, True]


def test_fully_partly_and_not_observed_nodes_side_by_side():
    """A certain node is held, an uncertain one starts from its row, an unknown one from the prior."""
    rows = np.ma.array(ROWS, mask=np.zeros(ROWS.shape, dtype=bool))
    rows[4] = np.ma.masked
    graphs = one(5, path_edges(5), rows)
    first = np.vstack([ROWS[:4], [1 / 3] * 3])
    reference = np.vstack(
        [first[0], (first[0] + first[2]) / 2, (first[1] + first[3]) / 2, first[3], first[3]]
    )
    computed = dense.library_history(graphs, LabelPropagation(), 1)
    assert np.allclose(computed[0], first)
    assert np.allclose(computed[1], reference)


def test_observed_says_which_distributions_are_facts():
    for observed, held in (
        ([True] * 5, [0, 1, 2, 3, 4]),
        ([False] * 5, []),
        ([False, True, False, False, False], [1]),
    ):
        graphs = one(5, cycle_edges(5), pk.LabelDistributions(ROWS, observed=observed))
        computed = dense.library_history(graphs, LabelPropagation(), 3)
        fixed = [i for i in range(5) if np.array_equal(computed[3, i], ROWS[i])]
        assert fixed == held


def test_uncertain_labels_against_dense_schemes():
    graphs = one(5, cycle_edges(5), ROWS)
    start = dense.Start(
        graphs.adjacency.toarray(), ROWS, np.array([True, False, False, True, True]), [0, 1, 2]
    )
    for scheme, step in (
        (LabelPropagation(), dense.label_propagation(start)),
        (LabelPropagation("before"), dense.label_propagation(start, "before")),
        (PartialAbsorption(0.3), dense.partial_absorption(start, 0.3)),
        (LabelSpreading(0.3), dense.label_spreading(start, 0.3)),
    ):
        reference = dense.dense_history(step, ROWS, 4)
        assert np.allclose(dense.library_history(graphs, scheme, 4), reference, atol=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_uncertain_labels_do_not_depend_on_order_or_batch(metric):
    rng = np.random.default_rng(0)
    parts = [one(n, cycle_edges(n), rng.dirichlet([0.3] * 4, n)) for n in (3, 5, 4, 7)]
    graphs = pk.GraphDatabase.concat(parts)
    fitted = pk.PropagationKernel(metric=metric, bin_width=0.1, random_state=1).fit(graphs)
    reference = fitted.transform(graphs)
    single = np.concatenate([fitted.transform(part) for part in parts])
    assert np.array_equal(single, reference)
    assert np.array_equal(fitted.transform(graphs[::-1]), reference[::-1])
    permuted = permute_nodes(graphs, rng)
    assert np.array_equal(
        pk.PropagationKernel(metric=metric, bin_width=0.1, random_state=1).fit_transform(permuted), reference
    )


def test_names_of_columns_in_any_order():
    rows = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    one_way = one(3, path_edges(3), pk.LabelDistributions(rows, ["a", "b"]))
    other_way = one(3, path_edges(3), pk.LabelDistributions(rows[:, ::-1], ["b", "a"]))
    computed = kernel(pk.GraphDatabase.concat([one_way, other_way]), bin_width=1e-10)
    assert (computed == computed[:, :1, :1]).all()


def test_a_label_with_an_unused_column_is_not_known():
    graphs = one(
        3, path_edges(3), np.ma.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]], mask=[[0] * 3, [0] * 3, [1] * 3])
    )
    assert graphs.label_values == (0, 2)
    assert np.array_equal(starting_points(graphs)[2], [0.5, 0.5])


@pytest.mark.parametrize("estimator", [pk.PropagationKernel, pk.PropagationFeatures])
def test_distributions_go_in_as_tuples_too(estimator):
    parameters = {"random_state": 0, "t_max": 2}
    graphs = [(np.ones((5, 5)) - np.eye(5), ROWS), (np.ones((2, 2)), ["x", None])]
    output = estimator(**parameters).fit_transform(graphs)
    again = estimator(**parameters).fit(graphs).transform(graphs)
    assert abs(output - again).sum() == 0


# priors


PARTIAL = [0, 0, 0, 2, None, None]


def partly():
    return one(6, cycle_edges(6), PARTIAL)


@pytest.mark.parametrize(
    ("prior", "reference"),
    [
        ("uniform", [0.5, 0.5]),
        ("frequency", [0.75, 0.25]),
        ({0: 1, 2: 3}, [0.25, 0.75]),
        ({2: 3, 0: 1}, [0.25, 0.75]),
        ({2: 0.5}, [0, 1]),
        ({np.int64(0): 1.0, 2.0: 1.0}, [0.5, 0.5]),
        ([1, 3], [0.25, 0.75]),
        ((True, False), [1, 0]),
        (np.array([2.0, 6.0]), [0.25, 0.75]),
    ],
    ids=str,
)
def test_priors(prior, reference):
    assert np.allclose(starting_points(partly(), prior)[4:], reference)


def test_a_prior_may_name_labels_that_fit_has_not_seen():
    column = label_column(partly(), "node")
    initial = initial_distributions(column, learn_prior(column, {0: 1, "unseen": 1}))
    assert set(initial.values) == {0, 2, "unseen"}
    assert initial.to_dense()[4].tolist() == [0.5, 0.5, 0]


def test_the_prior_is_that_of_the_training_graphs():
    parameters = {"propagation": "diffusion", "prior": "frequency", "t_max": 0, "random_state": 0}
    fitted = pk.PropagationKernel(**parameters).fit(partly())
    new = one(2, [], [None, 5])
    assert fitted.transform(new).tolist() == [[2.0]]  # the unobserved node starts like those in fit


@pytest.mark.parametrize("prior", ["uniform", "frequency"])
def test_priors_do_not_depend_on_the_order_of_graphs(prior):
    strings = [
        one(3, path_edges(3), labels) for labels in (["a", None, "b"], ["c", "c", None], ["b", "a", "d"])
    ]
    reference = kernel(pk.GraphDatabase.concat(strings), prior=prior, bin_width=1e-13, metric="hellinger")
    computed = kernel(
        pk.GraphDatabase.concat(strings[::-1]), prior=prior, bin_width=1e-13, metric="hellinger"
    )
    assert np.array_equal(computed[:, ::-1, ::-1], reference)


def test_frequencies_of_uncertain_labels_count_by_probability():
    rows = np.ma.array([[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 0]], mask=[[0, 0]] * 3 + [[1, 1]])
    assert np.allclose(starting_points(one(4, [], rows), "frequency")[3], [7 / 12, 5 / 12])


def test_a_prior_of_each_nodes_own_is_a_distribution():
    """The output of another classifier: where nodes start, but nothing that is held."""
    probabilities = np.array([[1, 0], [0.9, 0.1], [0.2, 0.8]])
    labels = pk.LabelDistributions(probabilities, observed=[True, False, False])
    computed = dense.library_history(one(3, path_edges(3), labels), LabelPropagation(), 1)
    assert np.allclose(computed[1], [[1, 0], [0.6, 0.4], [0.9, 0.1]])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("flat", "prior must be one of 'uniform', 'frequency'; got 'flat'"),
        ([0.5, 0.25, 0.25], r"prior has shape \(3,\) but the training graphs have 2 labels"),
        ([[0.5, 0.5]], r"prior has shape \(1, 2\) but the training graphs have 2 labels"),
        (None, r"prior has shape \(\) but the training graphs have 2 labels"),
        ([1, -1], r"prior weights must be finite, nonnegative numbers; got \[1, -1\]"),
        ([1, np.nan], r"prior weights must be finite, nonnegative numbers; got \[1.0, nan\]"),
        ([1, np.inf], r"prior weights must be finite, nonnegative numbers; got \[1.0, inf\]"),
        ({0: -1}, r"prior weights must be finite, nonnegative numbers; got \[-1\]"),
        ({0: "x"}, r"prior weights must be finite, nonnegative numbers; got \['x'\]"),
        ([0, 0], "prior weights are all zero"),
        ({0: 0.0}, "prior weights are all zero"),
        ({}, "prior weights are all zero"),
        ({None: 1}, r"prior must be distinct labels, got \[None\]"),
    ],
)
@pytest.mark.parametrize("cls", [pk.PropagationKernel, pk.PropagationFeatures])
def test_bad_priors_leave_a_fitted_estimator_as_it_was(cls, prior, message):
    estimator = cls(random_state=0).fit(partly())
    state = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    estimator.set_params(prior=prior)
    with pytest.raises(ValueError, match=f"^{message}$"):
        estimator.fit(partly())
    assert all(vars(estimator)[name] is value for name, value in state.items())


# names


def test_auto_is_diffusion_from_filled_labels():
    """For every graph alike, whether its labels, or others', are missing."""
    graphs = dense.partial_zoo()
    complete = graphs.with_labels(fill_labels(graphs, graphs.label_column))
    assert np.array_equal(kernel(graphs), kernel(complete, propagation=Diffusion()))
    assert np.array_equal(kernel(labelled_zoo()), kernel(labelled_zoo(), propagation=Diffusion()))
    blank = zoo()["unobserved labels"]
    assert np.array_equal(kernel(blank), kernel(blank, propagation=Diffusion()))


def test_one_word_for_each_scheme_of_the_paper():
    graphs = dense.partial_zoo()
    words = {
        "diffusion": Diffusion(),
        "label_propagation": LabelPropagation(),
        "push_back": LabelPropagation("before"),
    }
    found = {word: kernel(graphs, propagation=word) for word in words}
    assert all(np.array_equal(found[word], kernel(graphs, propagation=words[word])) for word in words)
    assert len({matrix.tobytes() for matrix in [*found.values(), kernel(graphs)]}) == 4


def test_orders_of_magnitude_of_degrees():
    """floor(log2 d) of the number of neighbors, exactly also at powers of two; weights do not count."""
    for degree in [*range(1, 10), 1023, 1024]:
        star = np.zeros((degree + 1, degree + 1))
        star[0, 1:] = star[1:, 0] = 0.3
        column = log_degree_column(pk.check_graphs([star]))
        assert [column.values[i] for i in column.ids] == [math.floor(math.log2(degree))] + [0] * degree
    alone = log_degree_column(pk.check_graphs([np.zeros((1, 1))]))
    assert alone.values == ("isolated",)
