"""Allowed edits, and edited graphs beside graphs that networkx edits."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.edits import ADD_LEAF, KINDS, NOTHING, REMOVE_EDGE, Editor, in_pairs
from tests.explain import naive
from tests.explain.small_models import small_graphs

LABELS, BONDS = ["C", "N", "O"], ["single", "double"]
PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.fixture(scope="module")
def data():
    return small_graphs(40, 0)


def random_graph(seed, n=7, missing=False):
    """A graph with labels of nodes and edges, an isolated node, leaves and a ring."""
    rng = np.random.default_rng(seed)
    adjacency, bonds = np.zeros((n, n)), np.zeros((n, n), dtype=int)
    edges = [(0, 1), (1, 2), (2, 0), *((int(rng.integers(i)), i) for i in range(3, n - 1))]
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1
        bonds[a, b] = bonds[b, a] = rng.integers(2)
    labels = [LABELS[i] for i in rng.integers(3, size=n)]
    labels = [None if missing and i == 1 else label for i, label in enumerate(labels)]
    rows, columns = np.nonzero(adjacency)
    edge_labels = [BONDS[bonds[a, b]] for a, b in zip(rows, columns, strict=True)]
    return pk.GraphDatabase(adjacency, [0, n], labels, edge_labels=edge_labels)


def all_pairs(editor, seed, n_pairs):
    """All single edits, and some pairs, with what only a first edit makes possible."""
    singles, rng = editor.single_edits(), np.random.default_rng(seed)
    pairs = [in_pairs(None, singles)]
    for first in singles[rng.choice(len(singles), min(n_pairs, len(singles)), replace=False)]:
        seconds = np.concatenate([singles[rng.choice(len(singles), 12)], editor.edits_after(first)])
        pairs.append(in_pairs(first, seconds))
    return np.concatenate(pairs)


def as_edit(row, editor):
    """A row of numbers as the naive edit it stands for."""
    kind, a, b, label, bond = row.tolist()
    name = KINDS[kind]
    return (
        name,
        a,
        b if name in ("add_edge", "remove_edge", "remove_leaf") else None,
        editor.labels[label] if name in ("relabel", "add_leaf") else None,
        editor.edge_labels[bond] if name.startswith("add") else None,
    )


def by_networkx(graph, editor, pairs, connected=False):
    """The graphs after possible edits, and the places of these."""
    plain, made = naive.from_database(graph), {}
    for i, pair in enumerate(pairs):
        edits = [as_edit(row, editor) for row in pair if row[0] != NOTHING]
        after = naive.apply_all(plain, edits)
        cut = [edit[1:3] for edit in edits if edit[0] == "remove_edge"]
        if after is not None and connected:
            ends = [(a, b) for a, b in cut if a in after and b in after]
            after = after if all(nx.has_path(after, a, b) for a, b in ends) else None
        if after is not None:
            made[i] = after
    return list(made), naive.to_database(list(made.values()), graph)


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_edited_graphs_are_those_of_networkx(seed, connected):
    graph = random_graph(seed, n=6 + seed % 2, missing=seed == 3)
    editor = Editor(graph, [*LABELS, "S"], [*BONDS, "triple"], KINDS, None, True)
    pairs = all_pairs(editor, seed, 60)
    expected, graphs = by_networkx(graph, editor, pairs, connected)
    places, found = editor.edited(pairs, connected)
    assert places.tolist() == expected
    assert len(editor.single_edits()) * (not connected) <= len(places) < len(pairs)
    assert found == graphs
    assert not found.is_directed


def test_everything_else_of_a_graph_stays():
    rng, plain = np.random.default_rng(0), random_graph(4)
    n_entries = plain.adjacency.nnz
    graph = pk.GraphDatabase(
        plain.adjacency,
        [0, 7],
        plain.node_labels,
        rng.normal(size=(7, 2)),
        edge_labels=plain.edge_labels,
        edge_attributes=np.arange(n_entries),
        ids=["first"],
    ).with_names({"C": "carbon"}, {"single": "-"})
    editor = Editor(graph, LABELS, BONDS, KINDS, None, True)
    a, b = editor.ends[:, 0]
    rows = np.array([[ADD_LEAF, 2, 7, 0, 1], [REMOVE_EDGE, a, b, 0, 0]])
    _, found = editor.edited(np.concatenate([in_pairs(None, rows), in_pairs(rows[0], rows[1:])]))
    assert found.ids.tolist() == ["first"] * 3
    assert found.names == graph.names
    grown, cut, both = found
    assert np.isnan(grown.node_attributes[-1]).all()
    np.testing.assert_array_equal(grown.node_attributes[:-1], graph.node_attributes)
    np.testing.assert_array_equal(cut.node_attributes, graph.node_attributes)
    assert sorted(cut.database.edge_attributes.ravel()) == sorted(
        set(range(n_entries)) - set(np.flatnonzero((editor.keys == a * 9 + b) | (editor.keys == b * 9 + a)))
    )
    assert np.isnan(both.database.edge_attributes).sum() == 2
    assert len(both.database.edge_attributes) == n_entries


def test_labels_of_the_graph_come_first():
    graph = pk.GraphDatabase(PATH, [0, 3], ["C", None, "N"], edge_labels=["single", None, None, "double"])
    editor = Editor(graph, ["O", "C"], ["double", "triple"], KINDS, None, True)
    assert editor.labels == ("C", "N", "O", None)
    assert [editor.labels[i] for i in editor.node_ids[:3]] == ["C", None, "N"]
    assert [editor.labels[i] for i in editor.new_labels] == ["O", "C"]
    assert [editor.edge_labels[i] for i in editor.edge_ids] == ["single", None, None, "double"]
    assert [editor.edge_labels[i] for i in editor.new_bonds] == ["double", "triple"]


@pytest.mark.parametrize("label", [2, np.int64(2), 2.0])
def test_equal_labels_have_one_number(label):
    editor = Editor(pk.GraphDatabase(PATH, [0, 3], [1, 2, 1]), [label], [], KINDS, None, True)
    assert editor.new_labels[0] == editor.node_ids[1]


def test_attributes_go_with_their_nodes():
    rng = np.random.default_rng(0)
    graphs, target = small_graphs(20, 1)
    graphs = graphs.with_attributes(rng.normal(size=(graphs.n_nodes, 2)) + target[graphs.graph_ids][:, None])
    kernel = pk.PropagationKernel(attributes="sum", t_max=1, random_state=0)
    model = pk.PropagationClassifier(kernel=kernel, t_max=1, C=1.0, random_state=0).fit(graphs, target)
    found = model.counterfactuals(graphs[0], n=3, max_edits=1)
    assert "add_leaf" not in {edits[0].kind for edits in found.edits}
    grown = model.counterfactuals(graphs[0], n=1, max_edits=1, allowed=["add_leaf"]).graph(0)
    assert np.isnan(grown.node_attributes[-1]).all()
    np.testing.assert_array_equal(grown.node_attributes[:-1], graphs[0].node_attributes)
