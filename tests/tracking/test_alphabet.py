"""Numbers of labels, and label columns made of numbers."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation.initial import UNKNOWN
from propkernels.tracking.alphabet import Alphabet

PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def values(column, missing):
    return [missing if i < 0 else column.values[i] for i in column.ids]


def test_labels_of_the_graph_come_first():
    graph = pk.GraphDatabase(PATH, [0, 3], ["C", None, "N"], edge_labels=["single", None, None, "double"])
    alphabet = Alphabet.of(graph, ["O", "C"], ["double", "triple"])
    assert set(alphabet.node_values) == {"C", "N", "O", None}
    assert [alphabet.node_values[i] for i in alphabet.node_ids] == ["C", None, "N"]
    assert [alphabet.node_values[i] for i in alphabet.new_labels] == ["O", "C"]
    assert [alphabet.edge_values[i] for i in alphabet.edge_ids] == ["single", UNKNOWN, UNKNOWN, "double"]
    assert [alphabet.edge_values[i] for i in alphabet.new_bonds] == ["double", "triple"]


def test_columns_of_numbers():
    graph = pk.GraphDatabase(PATH, [0, 3], ["C", None, "N"], edge_labels=["single", None, None, "double"])
    alphabet = Alphabet.of(graph, ["O"], ["triple"])
    nodes = np.concatenate([alphabet.node_ids, alphabet.new_labels])
    assert values(alphabet.node_column(nodes), None) == ["C", None, "N", "O"]
    edges = np.concatenate([alphabet.edge_ids, alphabet.new_bonds])
    assert values(alphabet.edge_column(edges), None) == ["single", None, None, "double", "triple"]


def test_graphs_without_labels():
    alphabet = Alphabet.of(pk.GraphDatabase(PATH, [0, 3]), ["ignored"], ["ignored"])
    assert alphabet.node_values == (None,)
    assert alphabet.new_labels.tolist() == [0]
    assert (alphabet.has_labels, alphabet.has_bonds) == (False, False)
    assert alphabet.node_column(alphabet.node_ids) is None
    assert alphabet.edge_column(alphabet.edge_ids) is None


@pytest.mark.parametrize("label", [2, np.int64(2), 2.0])
def test_equal_labels_have_one_number(label):
    alphabet = Alphabet.of(pk.GraphDatabase(PATH, [0, 3], [1, 2, 1]), [label], [])
    assert alphabet.new_labels[0] == alphabet.node_ids[1]
