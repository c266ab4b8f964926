"""P_0: labels, uncertain labels and priors, as PropagationKernel and PropagationFeatures take them."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

import propkernels as pk
from propkernels.propagation import Diffusion, LabelPropagation
from propkernels.propagation.imputer import fill_labels
from propkernels.propagation.initial import degree_column, edge_keys, label_column, log_degree_column
from tests.propagation import dense
from tests.zoo import cycle_edges, labelled_zoo, one, path_edges, zoo

SCHEMES = tuple(
    str.split("auto diffusion label_propagation partial_absorption label_spreading belief_propagation")
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


def test_a_label_with_an_unused_column_is_not_known():
    graphs = one(
        3, path_edges(3), np.ma.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]], mask=[[0] * 3, [0] * 3, [1] * 3])
    )
    assert graphs.label_values == (0, 2)
    assert np.array_equal(starting_points(graphs)[2], [0.5, 0.5])


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


def test_the_prior_is_that_of_the_training_graphs():
    parameters = {"propagation": "diffusion", "prior": "frequency", "t_max": 0, "random_state": 0}
    fitted = pk.PropagationKernel(**parameters).fit(partly())
    new = one(2, [], [None, 5])
    assert fitted.transform(new).tolist() == [[2.0]]  # the unobserved node starts like those in fit


def test_frequencies_of_uncertain_labels_count_by_probability():
    rows = np.ma.array([[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 0]], mask=[[0, 0]] * 3 + [[1, 1]])
    assert np.allclose(starting_points(one(4, [], rows), "frequency")[3], [7 / 12, 5 / 12])


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_keys_of_edges_tell_apart_what_is_asked_for(labels, weights):
    graphs = one(4, path_edges(4), edge_labels=list("aab"), weights=[1.0, 2.0, 2.0])
    keys = edge_keys(graphs, labels, weights)
    asked = ([graphs.edge_labels] if labels else []) + ([graphs.adjacency.data] if weights else [])
    if not asked:
        assert keys is None
        return
    pairs = set(zip(zip(*asked, strict=True), keys.tolist(), strict=True))
    assert len(pairs) == len({value for value, _ in pairs}) == len({key for _, key in pairs})
    bare = edge_keys(graphs.with_edge_labels(None), labels, weights)
    assert len(set(bare.tolist())) == (2 if weights else 1)
    assert not np.array_equal(bare, edge_keys(graphs, True, weights))


def test_neighbors_are_counted_once_whatever_the_number_of_edges():
    ends = np.array([1, 1, 0, 0, 2, 1])
    adjacency = csr_array((np.ones(6), ends, [0, 2, 5, 6]), shape=(3, 3))
    graphs = pk.GraphDatabase(adjacency, [0, 3], edge_labels=list("abababab")[:6])
    assert graphs.has_parallel_edges
    degrees = degree_column(graphs)
    assert [degrees.values[i] for i in degrees.ids] == [1, 2, 1]
    orders = label_column(graphs, "log_degree")
    assert [orders.values[i] for i in orders.ids] == [0, 1, 0]


# names


def test_auto_is_diffusion_from_filled_labels():
    """For every graph alike, whether its labels, or others', are missing."""
    graphs = dense.partial_zoo()
    complete = graphs.with_labels(fill_labels(graphs, graphs.label_column))
    assert np.array_equal(kernel(graphs), kernel(complete, propagation=Diffusion()))
    assert np.array_equal(kernel(labelled_zoo()), kernel(labelled_zoo(), propagation=Diffusion()))
    blank = zoo()["unobserved labels"]
    assert np.array_equal(kernel(blank), kernel(blank, propagation=Diffusion()))


def test_orders_of_magnitude_of_degrees():
    """floor(log2 d) of the number of neighbors, exactly also at powers of two; weights do not count."""
    for degree in [*range(1, 10), 1023, 1024]:
        star = np.zeros((degree + 1, degree + 1))
        star[0, 1:] = star[1:, 0] = 0.3
        column = log_degree_column(pk.check_graphs([star]))
        assert [column.values[i] for i in column.ids] == [math.floor(math.log2(degree))] + [0] * degree
    alone = log_degree_column(pk.check_graphs([np.zeros((1, 1))]))
    assert alone.values == ("isolated",)
