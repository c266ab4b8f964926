"""Bad input of databases: one sentence each, which names the graph and the value."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.graphs import Graph, GraphDatabase, Grid, LabelColumn
from propkernels.graphs.container import as_positions
from propkernels.graphs.database import pack, unpack
from propkernels.graphs.layout import node_positions
from propkernels.graphs.names import Names
from propkernels.graphs.neighborhoods import resolve_neighborhood
from tests.zoo import one

TWO = np.kron(np.eye(2), [[0, 1], [1, 0]])  # two graphs of two nodes
ROWS = np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]])
PAIR = GraphDatabase([[0, 1], [1, 0]], [0, 2], ["C", "O"], edge_labels=["x", "x"], edge_attributes=[1.0, 1.0])
SQUARE = np.zeros((2, 3), dtype=int)
GRIDS = pk.GridDatabase([SQUARE])
MASK = np.ones((2, 3), dtype=bool)
RING = pk.from_networkx([nx.cycle_graph(5)])[0]


def two(**parts):
    return lambda: GraphDatabase(**({"adjacency": TWO, "graph_ptr": [0, 2, 4]} | parts))


def entry(place, value):
    matrix = TWO.copy()
    matrix[place] = value
    return matrix


def whole(graph_ptr):
    return lambda: GraphDatabase(TWO, graph_ptr)


def key(index):
    return lambda: as_positions(index, 5)


def images(*some, **options):
    return lambda: pk.GridDatabase(list(some), **options)


def masks(*some):
    return lambda: pk.GridDatabase([SQUARE, SQUARE], some)


def labels(values):
    return lambda: LabelColumn.from_values(values)


def distributions(*parts):
    return lambda: pk.LabelDistributions(*parts)


def neighborhood(given):
    return lambda: resolve_neighborhood(given, 2)


def described(*parts):
    return lambda: PAIR.with_descriptors(*parts)


def concat(*items):
    return lambda: GraphDatabase.concat(items)


WEIGHTS = "weights must be finite and not negative"
LIST = "must be a list or array with one label each, got"
LEADS = "edges must stay inside one graph"
INVALID = [
    (two(adjacency=entry((1, 2), 1)), ValueError, f"from node 1 of graph 0 to node 0 of graph 1: {LEADS}"),
    (two(adjacency=entry((3, 2), -1.0)), ValueError, rf"edge \(1, 0\) of graph 1 has weight -1.0: {WEIGHTS}"),
    (two(adjacency=sparse.csr_array(entry((3, 2), np.nan))), ValueError, f"has weight nan: {WEIGHTS}"),
    (two(adjacency=entry((3, 2), np.inf)), ValueError, f"has weight inf: {WEIGHTS}"),
    (two(adjacency=np.full((4, 4), 1e308), graph_ptr=[0, 4]), ValueError, "graph 0 add up to more than"),
    (two(adjacency=1e-320 * TWO), ValueError, "node 0 of graph 0 add up to less than"),
    (two(adjacency=np.zeros((2, 3))), ValueError, r"a square matrix, got shape \(2, 3\)"),
    (two(adjacency=sparse.csr_array((2, 3))), ValueError, r"a square matrix, got shape \(2, 3\)"),
    (two(adjacency=np.eye(2, dtype=complex)), TypeError, "must hold real numbers, got dtype complex128"),
    (two(adjacency=[["a", "b"], ["c", "d"]]), TypeError, "a matrix of numbers, dense or scipy sparse, got l"),
    (two(adjacency=[[0, 1], [1]]), ValueError, "a matrix, got rows of different lengths"),
    (whole([1, 4]), ValueError, "graph_ptr must start at 0, got 1"),
    (whole([0, 3]), ValueError, "graph_ptr must end at 4, got 3"),
    (whole([0, 2**63 - 1, -2, 4]), ValueError, "graph_ptr falls from 9223372036854775807 to -2 at graph 1"),
    (whole(np.array([0, 2**64 - 1, 4], np.uint64)), ValueError, "falls from 18446744073709551615 to 4"),
    (whole([0.0, 4.0]), ValueError, r"whole numbers of at most 64 bits, got \[0.0, 4.0\]"),
    (whole(np.linspace(0, 1, 1000)), ValueError, r"\.\.\.$"),
    (whole([[0], [1, 2]]), ValueError, "whole numbers of at most 64 bits"),
    (two(node_labels=[1, 2, 3]), ValueError, "node_labels has 3 values for 4 nodes"),
    (two(node_labels="abcd"), TypeError, f"node_labels {LIST} 'abcd'"),
    (two(node_labels=np.zeros((4, 1), int)), ValueError, rf"node_labels {LIST} shape \(4, 1\)"),
    (two(node_labels=list("abc") + [[2]]), TypeError, r"label \[2\] of node 1 of graph 1 is not hashable"),
    (two(node_labels=ROWS), ValueError, "node_labels has 3 label distributions for 4 nodes"),
    (two(edge_labels=[1, 2, 3]), ValueError, "edge_labels has 3 values for 4 stored entries"),
    (two(edge_labels=[0, {}, 0, 0]), TypeError, r"label \{\} of edge \(1, 0\) of graph 0 is not hashable"),
    (two(node_attributes=np.zeros((3, 2))), ValueError, "node_attributes must have one row for each of 4"),
    (two(node_attributes=np.zeros((4, 1, 1))), ValueError, r"one row for each of 4 nodes, got shape \(4"),
    (two(node_attributes=["1"] * 4), TypeError, "must be an array of numbers, one row for each of 4 nodes"),
    (two(node_attributes=[[1], [1, 2], [], []]), TypeError, "must be an array of numbers"),
    (two(node_attributes=[10**400] * 4), ValueError, "too large for a float"),
    (two(node_attributes=[0, 0, -np.inf, 0]), ValueError, "node 0 of graph 1 has an infinite .* 0: -inf"),
    (two(node_attributes=sparse.csr_array((2, 2))), ValueError, "has 2 rows for 4 nodes"),
    (two(node_attributes=sparse.csr_array((4, 1)).astype(complex)), TypeError, "must hold real numbers"),
    (two(node_attributes=sparse.csr_array(np.diag([0, np.inf, 0, 0]))), ValueError, "node 1 of graph 0 .* 1"),
    (two(edge_attributes=[[1.0]]), ValueError, "one row for each of 4 stored entries of adjacency"),
    (two(edge_attributes=["x"] * 4), TypeError, "edge_attributes must be an array of numbers"),
    (two(edge_attributes=[1, np.inf, 1, 1]), ValueError, "entry 1 is infinite in dimension 0"),
    (two(edge_attributes=[1.0] * 4, edge_attribute_names=["a", "b"]), ValueError, "hold 1 different names"),
    (two(ids=["a"]), ValueError, "ids has 1 values for 2 graphs"),
    (lambda: PAIR.with_weights("width"), ValueError, "'width' does not exist: they have no names"),
    (lambda: PAIR.with_weights(2), ValueError, "the edge attribute 2 does not exist: they are 1"),
    (lambda: PAIR.with_edge_attributes(None).with_weights(0), ValueError, "have no edge attributes"),
    (lambda: PAIR.with_weights([1.0]), ValueError, "one number for each of 2 stored entries"),
    (lambda: PAIR.take([0], axis=1), ValueError, "a GraphDatabase has one axis, its graphs: use axis=0"),
    (lambda: Graph(GraphDatabase.concat([PAIR, PAIR])), ValueError, "a database with one graph, got 2"),
    (lambda: Grid(pk.GridDatabase([SQUARE] * 2)), ValueError, "a Grid is made of a database with one graph"),
    (lambda: hash(PAIR), TypeError, "unhashable"),
    (concat(one(1), "graph"), TypeError, "item 1 is a str, not a GraphDatabase"),
    (concat(one(1), one(0), one(1, attributes=[1])), ValueError, "item 0 has no node attributes but item 2"),
    (concat(one(1, attributes=[1]), one(1, attributes=[[1, 2]])), ValueError, "item 1 has 2 node attributes"),
    (concat(PAIR, PAIR.with_edge_attributes(np.ones((2, 3)))), ValueError, "item 1 has 3 edge attributes"),
    (concat(PAIR.with_descriptors([[1.0]]), PAIR), ValueError, "item 1 has other descriptors than item 0"),
    (concat(*(PAIR.with_descriptors([[1.0]], n) for n in "ab")), ValueError, "item 1 has other descriptors"),
    (described(np.zeros(1)), ValueError, "one row for each of 1 graphs"),
    (described([[np.inf]]), ValueError, "must be finite"),
    (described([[1, 2]], ["a"]), ValueError, "names must be 2 texts"),
    (described([[1, 2]], ["a", "a"]), ValueError, "same name"),
    (lambda: PAIR.with_moments(["a"], [0]), ValueError, "vertices and times must hold one entry"),
    (lambda: PAIR.with_moments(["a", None], [0, 0]), ValueError, "every node needs a vertex"),
    (lambda: PAIR.with_moments(["a", "b"], [0, 0]), ValueError, "relations as labels: contact.*got 'x'"),
    (lambda: PAIR.with_edge_labels(None).with_moments("ab", [0, 0]), TypeError, "vertices must be a list"),
    # positions of graphs
    (key(5), IndexError, "graph 5 is out of range: there are 5 graphs"),
    (key([0, 7]), IndexError, "graph 7 is out of range"),
    (key([True, False]), IndexError, "a boolean mask of length 2 cannot index 5 graphs"),
    (key([0.0, 1.0]), IndexError, "indexed by whole numbers, not by float64 values"),
    (key("a"), IndexError, "indexed by an int, slice, list or mask, not by 'a'"),
    (key(True), IndexError, "not by True"),
    # labels and distributions
    (labels({0: "a"}), TypeError, f"labels {LIST}"),
    (labels(5), TypeError, f"labels {LIST} 5"),
    (distributions([[1, 0], [-1, 2]]), ValueError, "node 1 holds -1.0: probabilities must be finite"),
    (distributions(sparse.csr_array([[1.0, np.nan]])), ValueError, "node 0 holds nan"),
    (distributions([[1, 0], [0, 0]]), ValueError, "node 1 is zero throughout: .* mask the row"),
    (distributions([[1e-320, 0]]), ValueError, "node 0 adds up to 9.*usual size"),
    (distributions(ROWS, ["a"]), ValueError, "2 columns but 1 values name them"),
    (distributions(ROWS, ["a", None]), ValueError, "values must be distinct labels"),
    (distributions(ROWS, None, [1, 0, 1]), ValueError, "known must hold one True or False"),
    (distributions(ROWS, None, None, [True]), ValueError, "observed must hold one True or False"),
    (distributions([["a", "b"]]), TypeError, "a matrix of numbers, one row per node"),
    (distributions([1.0, 0.0]), ValueError, r"shape \(nodes, labels\), got \(2,\)"),
    (lambda: pk.check_graphs([(np.ones((3, 3)), ROWS), (TWO[:2, :2], -TWO[:2, :2])]), ValueError, "1.*-1"),
    # grids
    (images(SQUARE, np.zeros((0, 2), int)), ValueError, r"image 1 has no pixels: its shape is \(0, 2\)"),
    (images(SQUARE, np.zeros((2, 2, 2), int)), ValueError, "image 1 has 3 dimensions but image 0 has 2"),
    (images([[0, 1], [-2, 1]]), ValueError, r"label -2 at \(1, 0\): labels must not be below -1"),
    (images(np.full((2, 2, 2), 0.4)), ValueError, r"no label distribution at \(0, 0\): \[0.4, 0.4\] must be"),
    (images([[[np.nan, 1.0]]]), ValueError, r"no label distribution at \(0, 0\)"),
    (images(np.zeros((3, 3))), ValueError, r"no label distribution at \(0,\).*labels are integers"),
    (images(np.array(1)), ValueError, "image 0 has no grid"),
    (images([[1, 2], [3]]), ValueError, "image 0 is not an array"),
    (images([["a"]]), TypeError, "image 0 must hold labels"),
    (lambda: pk.GridDatabase(np.zeros((4, 4), int)), TypeError, r"one array of shape \(4, 4\): put it into"),
    (lambda: pk.GridDatabase("image"), TypeError, "must be a list of arrays, got str"),
    (masks(MASK), ValueError, "masks of 1 images for 2 images"),
    (masks(MASK, MASK.T), ValueError, r"the mask of image 1 has shape \(3, 2\), the image \(2, 3\)"),
    (masks(MASK.astype(int), MASK), TypeError, "the mask of image 0 must be boolean"),
    (masks(MASK, ~MASK), ValueError, "image 1 has no pixels: its mask is False throughout"),
    (lambda: pk.GridDatabase([SQUARE], 3), TypeError, "masks must be a list of boolean arrays"),
    (images(SQUARE, attributes=3), TypeError, "attributes must be a list of arrays, one per image"),
    (images(SQUARE, attributes=[]), ValueError, "attributes of 0 images for 1 images"),
    (images(SQUARE, attributes=[np.ones((3, 2))]), ValueError, "attributes of image 0 must be numbers of sh"),
    (images(SQUARE, SQUARE, attributes=[SQUARE, np.ones((2, 3, 2))]), ValueError, "image 1 has 2 attributes"),
    (lambda: pk.GridDatabase([SQUARE]).with_labels(None), ValueError, "have labels"),
    (lambda: GRIDS.concat([GRIDS, []]), TypeError, "item 1 is a list"),
    (lambda: GRIDS.concat([GRIDS, pk.GridDatabase([SQUARE[None]])]), ValueError, "1 has images of 3 dim"),
    (neighborhood(np.ones((2, 3))), ValueError, r"odd lengths in all directions, got \(2, 3\)"),
    (neighborhood(np.zeros((3, 3))), ValueError, "must not all be zero"),
    (neighborhood(-np.ones((3, 3))), ValueError, "finite and not negative"),
    (neighborhood(np.ones((3, 3, 3))), ValueError, "a filter of 3 dimensions cannot serve grids of 2"),
    (neighborhood((1, 4, 8)), ValueError, r"neighborhood must be \(radius, points\)"),
    (neighborhood((0, 4)), ValueError, "radius must be a finite number above 0"),
    (neighborhood((1, 0)), ValueError, "points must be at least 1"),
    (neighborhood("moore"), ValueError, "neighborhood must be one of 'nearest'"),
    (neighborhood([[1, 2], [3]]), TypeError, r"neighborhood must be \(radius, points\)"),
    (lambda: resolve_neighborhood((1, 4), 1), ValueError, "needs a plane"),
    (lambda: Names.from_pairs({"classes": 3}), TypeError, "not iterable"),
    # drawings
    (lambda: node_positions(RING, np.zeros((4, 2))), ValueError, r"each of 5 nodes, got shape \(4, 2\)"),
    (lambda: node_positions(RING, np.full((5, 2), np.nan)), ValueError, "finite"),
    (lambda: node_positions(RING, "fancy"), ValueError, "networkx has no layout 'fancy'"),
]


@pytest.mark.parametrize(("call", "kind", "words"), INVALID)
def test_bad_input_is_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words) as error:
        call()
    assert type(error.value) is kind
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "changed",
    [
        {"indices": np.array([1, 7])},
        {"indices": np.array([1, -1])},
        {"indices": np.array([0.0, 1.0])},
        {"indptr": np.array([0, 5, 2])},
        {"indptr": np.array([1, 1, 2])},
        {"data": np.array([1.0])},
        {"data": np.array([1.0, np.nan])},
        {"graph_ptr": np.array([0, 3])},
        {"graph_ptr": np.array([0, 1, 2])},
        {"node_labels": (np.array([0, 2]), ("C", "O"))},
        {"node_labels": (np.array([0, -2]), ("C", "O"))},
        {"node_labels": (np.array([0, 1]), ("C", "C"))},
        {"node_labels": (np.array([0]), ("C",))},
        {"edge_labels": (np.array([0, 9]), ("x",))},
        {"edge_attributes": np.array([[1.0]])},
        {"ids": ["a", "b"]},
        {"edge_attribute_names": ["a", "b"]},
        {"names": []},
        {"names": {"other": []}},
        {"names": {"labels": [[1, 2]]}},
        {"names": {"labels": [[{}, "a"]]}},
    ],
)
def test_parts_of_unknown_origin_that_do_not_fit(changed):
    with pytest.raises((TypeError, ValueError, IndexError)):
        unpack(pack(PAIR) | changed)
