"""Edits in place and their undo, against graphs that are edited by the editor."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.edits import (
    ADD_EDGE,
    ADD_LEAF,
    KINDS,
    NOTHING,
    RELABEL,
    REMOVE_EDGE,
    REMOVE_LEAF,
    Editor,
    in_pairs,
)
from propkernels.tracking import wiring_compiled
from propkernels.tracking.trackers import wired
from tests.tracking.edited import Edited

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("as_python")]


def lollipop():
    """A triangle with a leaf, and an isolated node."""
    matrix = np.zeros((5, 5))
    for a, b in [(0, 1), (1, 2), (2, 0), (2, 3)]:
        matrix[a, b] = matrix[b, a] = 1
    return pk.GraphDatabase(matrix, [0, 5], list("CNCOC"), edge_labels=[0, 0, 0, 1, 0, 1, 2, 2])


def listed(wiring):
    """Labels of living nodes, and the labels of all edges by their ends, nodes renumbered in order."""
    number = np.cumsum(wiring.alive) - 1
    nodes = np.flatnonzero(wiring.alive)
    edges = {}
    for i in nodes:
        row = wiring.neighbors[wiring.first[i] :][: wiring.degree[i]]
        assert (np.diff(row) > 0).all()
        edges |= {
            (int(number[i]), int(number[j])): int(bond)
            for j, bond in zip(row, wiring.bonds[wiring.first[i] :][: wiring.degree[i]], strict=True)
        }
    return wiring.labels[nodes].tolist(), edges


def expected(graph, alphabet):
    """The same of a graph."""
    ids, rows = graph.label_column, graph.adjacency.tocoo()
    labels = [alphabet.node_values.index(None if i < 0 else ids.values[i]) for i in ids.ids]
    column = graph.edge_label_column
    bonds = [alphabet.edge_values.index(column.values[i]) for i in column.ids]
    return labels, dict(zip(zip(*(x.tolist() for x in rows.coords), strict=True), bonds, strict=True))


def test_edits_give_the_edited_graph_and_are_taken_back():
    edited = Edited(lollipop(), 0, n_edits=20, labels=["C", "S"], bonds=[0, 5])
    wiring, before = wired(edited.graph, edited.alphabet), np.zeros(2, dtype=np.int64)
    start = listed(wiring)
    assert start == expected(edited.graph, edited.alphabet)
    for row, graph in enumerate(edited.graphs):
        wiring_compiled.apply_edits(wiring, edited.edits, row, before)
        assert listed(wiring) == expected(graph, edited.alphabet)
        wiring_compiled.take_back_edits(wiring, edited.edits, row, before)
        assert listed(wiring) == start


def possible(graph, edits, connected=False):
    alphabet = Edited(graph, 0, n_edits=1).alphabet
    n, answer = graph.n_nodes + 2, np.zeros(len(edits), dtype=bool)
    room = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    wiring_compiled.possible_edits(wired(graph, alphabet), edits, connected, *room, answer)
    assert not room[1].any()
    return answer


@pytest.mark.parametrize("connected", [False, True])
def test_possible_pairs_are_those_of_the_editor(connected):
    graph = lollipop()
    alphabet = Edited(graph, 0, n_edits=1).alphabet
    editor = Editor(graph, alphabet, KINDS, None, True)
    singles, rng = editor.single_edits(), np.random.default_rng(0)
    pairs = [in_pairs(None, singles)]
    for first in singles[rng.permutation(len(singles))[:12]]:
        seconds = singles[rng.integers(len(singles), size=8)]
        pairs.append(in_pairs(first, seconds[seconds[:, 0] != ADD_LEAF]))
    pairs = np.concatenate(pairs)
    wanted = [editor.edited(pair[pair[:, 0] != NOTHING], connected) is not None for pair in pairs]
    assert possible(graph, pairs, connected).tolist() == wanted
    assert 0 < sum(wanted) < len(pairs)


@pytest.mark.parametrize(
    ("edit", "is_possible"),
    [
        ((RELABEL, 0, 0, 0, 0), False),  # has this label
        ((RELABEL, 0, 0, 1, 0), True),
        ((ADD_EDGE, 0, 0, 0, 0), False),
        ((ADD_EDGE, 0, 1, 0, 0), False),
        ((ADD_EDGE, 0, 4, 0, 0), True),
        ((ADD_EDGE, 0, 5, 0, 0), False),  # there is no node 5
        ((REMOVE_EDGE, 0, 4, 0, 0), False),
        ((REMOVE_LEAF, 0, 1, 0, 0), False),
        ((REMOVE_LEAF, 3, 0, 0, 0), False),  # its neighbor is 2
        ((REMOVE_LEAF, 3, 2, 0, 0), True),
        ((ADD_LEAF, 4, 5, 0, 0), True),
    ],
)
def test_single_edits(edit, is_possible):
    assert possible(lollipop(), in_pairs(None, np.array([edit]))).tolist() == [is_possible]


def test_a_bridge_may_not_be_removed():
    edits = in_pairs(None, np.array([(REMOVE_EDGE, 2, 3, 0, 0), (REMOVE_EDGE, 0, 1, 0, 0)]))
    assert possible(lollipop(), edits).tolist() == [True, True]
    assert possible(lollipop(), edits, connected=True).tolist() == [False, True]
