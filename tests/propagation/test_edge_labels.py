"""Edge labels in propagation kernels, against walks that are listed in exact rational arithmetic."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array

import propkernels as pk
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation import (
    AbsorbingWalk,
    Diffusion,
    GaussianMixtures,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
    PropagatedAttributes,
)
from propkernels.propagation.schemes import crossed_edges, directed_adjacency
from tests.zoo import hide_labels

NARROW = 1e-10


def some_graphs(
    n_graphs=8,
    directed=False,
    weighted=False,
    labels=("a", "b", None),
    seed=0,
    one_label=False,
    connected=False,
):
    generator = np.random.default_rng(seed)
    adjacency, nodes = [], []
    for n in generator.integers(2, 7, n_graphs):
        matrix = np.triu(generator.random((n, n)) < 0.5, 1).astype(int)
        if connected:
            matrix |= np.eye(n, k=1, dtype=int)
        if weighted:
            matrix *= generator.integers(1, 3, (n, n))
        adjacency.append(matrix if directed else matrix + matrix.T)
        nodes.append(generator.integers(0, 2, n).tolist())
    plain = pk.check_graphs(list(zip(adjacency, nodes, strict=True)))
    rows, columns = plain.adjacency.tocoo().coords
    edge_labels = [None] * len(rows)
    for e, (i, j) in enumerate(zip(rows, columns, strict=True)):
        k = 0 if one_label else (min(i, j) * 7 + max(i, j) * 3 + (i > j) * directed) % len(labels)
        edge_labels[e] = labels[k]
    return pk.GraphDatabase(
        plain.adjacency,
        plain.graph_ptr,
        plain.node_labels,
        np.arange(plain.n_nodes)[:, None] % 3.0,
        edge_labels,
    )


def walks(graphs, t_max, step):
    """Distributions over (record of the walk, label at its end), as numbers of equal ones: (t_max + 1, N).

    ``step(i)`` lists what a walk at node i does next: (probability, what is recorded, node it goes to); no
    node, None, ends the walk with the label of i.
    """
    current = [{((), label): Fraction(1)} for label in graphs.node_labels]
    start, found = list(current), []
    for _ in range(t_max + 1):
        names = {}
        found.append([names.setdefault(frozenset(d.items()), len(names)) for d in current])
        following = []
        for i in range(graphs.n_nodes):
            total = defaultdict(Fraction)
            for share, record, j in step(i):
                origin = start[i] if j is None else current[j]
                for (records, end), mass in origin.items():
                    # a walk that ended earlier has a shorter record: what it did is told by place
                    total[(record, *records), end] += share * mass
            following.append(dict(total))
        current = following
    return np.array(found)


def exact_kernel(graphs, codes):
    kernel = np.zeros((len(graphs), len(graphs)))
    for row in codes:
        counts = np.zeros((len(graphs), row.max() + 1))
        np.add.at(counts, (graphs.graph_ids, row), 1)
        kernel += counts @ counts.T
    return kernel


def row_walk(graphs, laziness=Fraction(0), direction="follow"):
    """(1 - l) D^-1 A + l I along the directed edges, with their labels."""
    adjacency, edges = directed_adjacency(graphs, direction), crossed_edges(graphs, direction)

    def step(i):
        entries = range(adjacency.indptr[i], adjacency.indptr[i + 1])
        total = sum(Fraction(float(adjacency.data[e])) for e in entries)
        if total == 0:
            return [(Fraction(1), "stay", i)]
        moves = [
            (
                (1 - laziness) * Fraction(float(adjacency.data[e])) / total,
                int(edges.keys[edges.kinds[e]]),
                int(adjacency.indices[e]),
            )
            for e in entries
        ]
        return moves if laziness == 0 else [*moves, (laziness, "stay", i)]

    return step


@pytest.mark.slow
@pytest.mark.data
def test_mutag_is_exact_entry_for_entry(data_folder):
    graphs = pk.datasets.load("MUTAG").graphs
    codes = walks(graphs, 5, row_walk(graphs))
    for t_max in range(6):
        kernel = pk.PropagationKernel(edge_labels=True, t_max=t_max, bin_width=NARROW, random_state=t_max)
        np.testing.assert_array_equal(kernel.fit_transform(graphs), exact_kernel(graphs, codes[: t_max + 1]))


@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("laziness", [0, Fraction(1, 4)])
def test_walks_with_directions_weights_and_laziness(direction, weighted, laziness):
    graphs = some_graphs(directed=True, weighted=weighted)
    scheme = Diffusion(float(laziness), direction=direction)
    kernel = pk.PropagationKernel(
        propagation=scheme, edge_labels=True, t_max=4, bin_width=NARROW, random_state=0
    )
    codes = walks(graphs, 4, row_walk(graphs, laziness, direction))
    np.testing.assert_array_equal(kernel.fit_transform(graphs), exact_kernel(graphs, codes))


def test_absorbing_walks_and_partial_absorption():
    graphs = some_graphs()
    plain, labels = row_walk(graphs), graphs.node_labels

    def absorbing(i):
        return [(Fraction(1), "stay", i)] if labels[i] == 1 else plain(i)

    def partial(i):
        moves = plain(i)
        if moves[0][1] == "stay":
            return moves
        quarter = Fraction(1, 4)
        return [(quarter, "end", None), *((share * (1 - quarter), record, j) for share, record, j in moves)]

    for scheme, step in ((AbsorbingWalk({1}), absorbing), (PartialAbsorption(0.25), partial)):
        settings = {"propagation": scheme, "t_max": 4, "bin_width": NARROW, "random_state": 0}
        kernel = pk.PropagationKernel(edge_labels=True, **settings).fit_transform(graphs)
        np.testing.assert_array_equal(kernel, exact_kernel(graphs, walks(graphs, 4, step)))


WALKS = [Diffusion(), Diffusion(0, "symmetric"), Diffusion(0, "none"), Diffusion(isolated="vanish")]
SCHEMES = [
    Diffusion(0.5),
    Diffusion(0.5, "symmetric"),
    Diffusion(0.5, "none"),
    LabelPropagation(),
    LabelPropagation(clamp="before"),
    LabelSpreading(),
    PartialAbsorption(),
    PartialAbsorption(rate=1.0),
    AbsorbingWalk({1}),
]


@pytest.mark.parametrize("scheme", WALKS + SCHEMES, ids=str)
def test_edge_labels_only_tell_more_nodes_apart(scheme):
    graphs = some_graphs(12)
    if isinstance(scheme, LabelPropagation):
        graphs = hide_labels(graphs, 0.5, random_state=0)
    settings = {"propagation": scheme, "t_max": 4, "bin_width": NARROW, "random_state": 0}
    plain = pk.PropagationKernel(**settings).fit_transform(graphs)
    labelled = pk.PropagationKernel(edge_labels=True, **settings).fit_transform(graphs)
    assert (labelled <= plain).all()
    assert (labelled < plain).any()


@pytest.mark.parametrize(
    "attributes", ["sum", "product", "joint", PropagatedAttributes(laziness=0), GaussianMixtures()]
)
def test_attributes(attributes):
    """One edge label everywhere changes no classes; several change those whose values cross edges."""
    settings = {"attributes": attributes, "t_max": 3, "attribute_bin_width": 1e-6, "random_state": 0}
    graphs, alike = some_graphs(connected=True), some_graphs(one_label=True, connected=True)
    plain = pk.PropagationKernel(**settings).fit_transform(alike)
    np.testing.assert_array_equal(
        pk.PropagationKernel(edge_labels=True, **settings).fit_transform(alike), plain
    )
    labelled = pk.PropagationKernel(edge_labels=True, **settings).fit_transform(graphs)
    assert (labelled <= plain).all()
    assert (labelled < plain).any()
    if not isinstance(attributes, str):  # labels of nodes left out: what differs are the attributes
        settings["labels"] = None
        ones = pk.PropagationKernel(
            edge_labels=True, propagation=AbsorbingWalk(lambda g: np.ones(g.n_nodes, bool))
        )
        ones.set_params(**settings)
        assert (ones.fit_transform(graphs) < ones.fit_transform(alike)).any()


@pytest.mark.parametrize("attributes", ["sum", PropagatedAttributes(laziness=0), GaussianMixtures()])
def test_walks_against_the_edges_are_walks_along_turned_edges(attributes):
    graphs = some_graphs(directed=True, connected=True)
    rows, columns = graphs.adjacency.tocoo().coords
    turned = coo_array((graphs.adjacency.data, (columns, rows)), shape=graphs.adjacency.shape)
    parts = graphs.node_labels, graphs.node_attributes, graphs.edge_labels
    kernels = [
        pk.PropagationKernel(propagation=scheme, attributes=attributes, edge_labels=True, random_state=0)
        for scheme in (Diffusion(direction="reverse"), Diffusion())
    ]
    against, along = (kernel.set_params(t_max=3, attribute_bin_width=1e-6) for kernel in kernels)
    expected = along.fit_transform(pk.GraphDatabase(turned, graphs.graph_ptr, *parts))
    np.testing.assert_array_equal(against.fit_transform(graphs), expected)


def test_labels_of_both_ways():
    """The heavier way of an edge gives its label; of two equal ones, the way that is gone."""
    adjacency = np.array([[0, 1, 2], [1, 0, 0], [5, 0, 0]])
    graphs = pk.GraphDatabase(adjacency, [0, 3], edge_labels=["01", "02", "10", "20"])
    column = graphs.edge_label_column
    assert isinstance(column, LabelColumn)
    expected = {
        "follow": ["01", "02", "10", "20"],
        "reverse": ["10", "20", "01", "02"],
        "both": ["01", "20", "10", "20"],
    }
    for direction, labels in expected.items():
        kinds = crossed_edges(graphs, direction).kinds
        assert [column.values[kind] for kind in kinds] == labels
