"""Bad input: each gives one sentence that names the graph and the value."""

import numpy as np
import pytest
from scipy import sparse

from propkernels.graphs import GraphDatabase
from propkernels.graphs.validation import naming_graph
from tests.zoo import one, zoo

TWO = np.kron(np.eye(2), [[0, 1], [1, 0]])  # two graphs of two nodes


def refused(kind, message, *args, **kwargs):
    with pytest.raises(kind) as error:
        GraphDatabase(*args, **kwargs)
    assert type(error.value) is kind
    assert str(error.value) == message


# edges and weights


@pytest.mark.parametrize("layout", ["dense", "csr", "coo"])
@pytest.mark.parametrize(
    ("edge", "said"),
    [((1, 2), "node 1 of graph 0 to node 0 of graph 1"), ((3, 0), "node 1 of graph 1 to node 0 of graph 0")],
)
def test_edges_between_graphs(edge, said, layout):
    matrix = TWO.copy()
    matrix[edge] = 1
    given = matrix if layout == "dense" else sparse.coo_array(matrix).asformat(layout)
    refused(ValueError, f"an edge leads from {said}: edges must stay inside one graph", given, [0, 2, 4])


def test_edges_between_graphs_with_empty_graphs_around():
    matrix = TWO.copy()
    matrix[0, 3] = 1
    said = "node 0 of graph 1 to node 1 of graph 3"
    refused(
        ValueError, f"an edge leads from {said}: edges must stay inside one graph", matrix, [0, 0, 2, 2, 4, 4]
    )


def test_zeros_between_graphs_are_not_edges():
    coo = sparse.coo_array((np.array([0.0, 1.0]), ([0, 2], [3, 3])), shape=(4, 4))
    assert GraphDatabase(coo, [0, 2, 4]).adjacency.nnz == 1


@pytest.mark.parametrize("layout", ["dense", "csr", "coo"])
@pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
def test_weights_that_are_not_weights(weight, layout):
    matrix = TWO.copy()
    matrix[3, 2] = weight
    given = matrix if layout == "dense" else sparse.coo_array(matrix).asformat(layout)
    message = f"edge (1, 0) of graph 1 has weight {weight}: weights must be finite and not negative"
    refused(ValueError, message, given, [0, 2, 4])


def test_weights_with_edge_labels_are_checked_too():
    message = "edge (0, 1) of graph 0 has weight nan: weights must be finite and not negative"
    refused(ValueError, message, [[0, np.nan], [1, 0]], [0, 2], edge_labels=["a", "b"])


# matrices


@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 2, 2), ()])
def test_not_square(shape):
    refused(ValueError, f"adjacency must be a square matrix, got shape {shape}", np.zeros(shape), [0, 2])


def test_not_square_and_sparse():
    refused(
        ValueError, "adjacency must be a square matrix, got shape (2, 3)", sparse.csr_array((2, 3)), [0, 2]
    )


@pytest.mark.parametrize("given", [np.eye(2, dtype=complex), sparse.csr_array(np.eye(2, dtype=complex))])
def test_complex_weights(given):
    refused(TypeError, "adjacency must hold real numbers, got dtype complex128", given, [0, 2])


@pytest.mark.parametrize(
    ("given", "kind"), [([["a", "b"], ["c", "d"]], "list"), (np.full((2, 2), None), "ndarray"), ("ab", "str")]
)
def test_not_numbers(given, kind):
    message = f"adjacency must be a matrix of numbers, dense or scipy sparse, got {kind}"
    refused(TypeError, message, given, [0, 2])


def test_ragged_rows():
    refused(ValueError, "adjacency must be a matrix, got rows of different lengths", [[0, 1], [1]], [0, 2])


# graph_ptr


@pytest.mark.parametrize(
    ("graph_ptr", "message"),
    [
        ([1, 4], "graph_ptr must start at 0, got 1"),
        ([0, 3], "graph_ptr must end at 4, got 3"),
        ([0, 2, 5], "graph_ptr must end at 4, got 5"),
        ([0], "graph_ptr must end at 4, got 0"),
        ([0, 3, 2, 4], "graph_ptr falls from 3 to 2 at graph 1"),
        ([0, -1, 4], "graph_ptr falls from 0 to -1 at graph 0"),
        ([0, 2**63 - 1, -2, 4], "graph_ptr falls from 9223372036854775807 to -2 at graph 1"),
        (np.array([0, 2**64 - 1, 4], np.uint64), "graph_ptr falls from 18446744073709551615 to 4 at graph 1"),
        ([], "graph_ptr must start at 0, got no numbers"),
        ([0.0, 4.0], "graph_ptr must list whole numbers of at most 64 bits, got [0.0, 4.0]"),
        (4, "graph_ptr must list whole numbers of at most 64 bits, got 4"),
        (None, "graph_ptr must list whole numbers of at most 64 bits, got None"),
        ([[0, 4]], "graph_ptr must list whole numbers of at most 64 bits, got [[0, 4]]"),
        ([[0], [1, 2]], "graph_ptr must list whole numbers of at most 64 bits, got [[0], [1, 2]]"),
        (["a"], "graph_ptr must list whole numbers of at most 64 bits, got ['a']"),
    ],
)
def test_graph_ptr_that_does_not_fit(graph_ptr, message):
    refused(ValueError, message, TWO, graph_ptr)


def test_long_graph_ptr_is_shortened_in_the_message():
    with pytest.raises(ValueError, match=r"\.\.\.$") as error:
        GraphDatabase(TWO, np.linspace(0, 1, 1000))
    assert len(str(error.value)) < 150


def test_graph_ptr_of_any_integer_type():
    for graph_ptr in ((0, 2, 4), range(0, 5, 2), np.array([0, 2, 4], dtype=np.uint8)):
        database = GraphDatabase(TWO, graph_ptr)
        assert database.graph_ptr.dtype == np.int64
        assert len(database) == 2


# labels


@pytest.mark.parametrize("labels", [[1, 2, 3], np.arange(5), ["a"] * 3, []])
def test_labels_of_the_wrong_length(labels):
    refused(ValueError, f"node_labels has {len(labels)} values for 4 nodes", TWO, [0, 2, 4], labels)


def test_edge_labels_of_the_wrong_length():
    message = "edge_labels has 3 values for 4 stored entries of adjacency"
    refused(ValueError, message, TWO, [0, 2, 4], edge_labels=[1, 2, 3])


def test_labels_that_are_not_hashable():
    message = "node_labels: the label [2] of node 1 of graph 1 is not hashable"
    refused(TypeError, message, TWO, [0, 2, 4], ["a", "b", "c", [2]])
    message = "edge_labels: the label {} of edge (1, 0) of graph 0 is not hashable"
    refused(TypeError, message, TWO, [0, 2, 4], edge_labels=[0, {}, 0, 0])


@pytest.mark.parametrize("labels", ["abcd", {0: "a"}, 3])
def test_labels_that_are_not_a_list(labels):
    message = f"node_labels must be a list or array with one label each, got {labels!r}"
    refused(TypeError, message, TWO, [0, 2, 4], labels)


def test_labels_of_two_dimensions():
    message = "node_labels must be a list or array with one label each, got shape (4, 1)"
    refused(ValueError, message, TWO, [0, 2, 4], np.zeros((4, 1), dtype=int))


def test_edge_labels_that_are_not_hashable_are_named_by_their_edge():
    coo = sparse.coo_array((np.ones(2), ([3, 3], [2, 2])), shape=(4, 4))
    message = "edge_labels: the label ['b'] of edge (1, 0) of graph 1 is not hashable"
    refused(TypeError, message, coo, [0, 2, 4], edge_labels=["a", ["b"]])


# attributes


@pytest.mark.parametrize("rows", [0, 3, 5])
def test_attributes_of_the_wrong_length(rows):
    message = f"node_attributes has {rows} rows for 4 nodes"
    refused(ValueError, message, TWO, [0, 2, 4], node_attributes=np.zeros((rows, 2)))


def test_attributes_of_three_dimensions():
    message = "node_attributes must be of shape (nodes, dimensions), got (4, 1, 1)"
    refused(ValueError, message, TWO, [0, 2, 4], node_attributes=np.zeros((4, 1, 1)))


@pytest.mark.parametrize(
    "attributes", [["a"] * 4, ["1"] * 4, [[1], [1, 2], [], []], np.eye(4) * 1j, {}, "abcd"]
)
def test_attributes_that_are_not_numbers(attributes):
    message = "node_attributes must be an array of numbers, one row per node"
    refused(TypeError, message, TWO, [0, 2, 4], node_attributes=attributes)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_attributes(value):
    attributes = np.zeros((4, 2))
    attributes[2, 1] = value
    message = f"node 0 of graph 1 has an infinite attribute in dimension 1: {value}"
    refused(ValueError, message, TWO, [0, 2, 4], node_attributes=attributes)


def test_attributes_in_many_guises():
    pandas = pytest.importorskip("pandas")
    expected = np.array([[1.0, 2.0], [3.0, np.nan]])
    frame = pandas.DataFrame({"a": [1, 3], "b": [2, None]})
    masked = np.ma.array([[1, 2], [3, 9]], mask=[[0, 0], [0, 1]])
    for given in (
        expected,
        expected.tolist(),
        frame,
        masked,
        np.asfortranarray(expected),
        [[1, 2], [3, None]],
    ):
        found = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=given).node_attributes
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert np.array_equal(found, expected, equal_nan=True)
    whole = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=sparse.csr_array(np.eye(2, dtype=int)))
    assert whole.node_attributes.tolist() == [[1, 0], [0, 1]]


# and what is not bad input


@pytest.mark.parametrize(
    "name", ["no edges", "single node", "self-loops", "isolated nodes", "several components", "no nodes"]
)
def test_not_bad_input(name):
    database = zoo()[name]
    assert GraphDatabase(database.adjacency, database.graph_ptr, database.node_labels) == database


def test_nothing_is_left_half_done():
    database = one(2, [(0, 1)])
    before = one(2, [(0, 1)])
    with pytest.raises(ValueError, match="node_labels has 1 values for 2 nodes"):
        database.with_labels(["a"])
    with pytest.raises(ValueError, match="node_attributes has 1 rows for 2 nodes"):
        database.with_attributes([1.0])
    assert database == before


def test_naming_graph_keeps_the_kind_of_error():
    for kind, raised in ((TypeError, TypeError), (ValueError, ValueError), (UnicodeError, ValueError)):
        with pytest.raises(raised, match=r"^graph 7: node 1 is odd$") as error, naming_graph(7):
            raise kind("node 1 of graph 0 is odd")
        assert type(error.value) is raised
