"""Pairs of nodes joined by shortest paths, before and after edits."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.codes.paths_compiled import crossed_word
from propkernels.tracking.bins_compiled import NUMBER, SETTLED, STAMP
from propkernels.tracking.tracked_paths_compiled import edge_words
from tests.tracking.edited import Edited, check_counts

pytestmark = pytest.mark.compiled


def two_ways():
    """Two shortest paths between 0 and 3 with other edge labels, a tail, and a separate edge."""
    plain = nx.Graph()
    edges = [(0, 1, 0), (1, 3, 1), (0, 2, 1), (2, 3, 1), (3, 4, 2), (5, 6, 0)]
    plain.add_edges_from((a, b, {"bond": label}) for a, b, label in edges)
    nx.set_node_attributes(plain, {v: "CN"[v % 2] for v in plain}, "label")
    return pk.from_networkx([plain], node_label="label", edge_label="bond")


@pytest.mark.parametrize("edge_labels", [False, True])
def test_pairs_are_counted_once_in_each_direction(edge_labels):
    edited = Edited(two_ways(), 0, n_edits=2)
    tracker = edited.vocabulary(pk.ShortestPath(edge_labels=edge_labels)).tracker(
        edited.graph, edited.alphabet
    )
    cells = tracker._parts[2].cells[0]
    settled = cells[cells[:, STAMP] == SETTLED]
    assert settled[:, NUMBER].sum() == 5 * 4 + 2 * 1  # ordered pairs of both components
    assert (settled[:, NUMBER] > 0).all()


@pytest.mark.parametrize("edge_labels", [False, True])
def test_counts_after_edits(edge_labels):
    check_counts(pk.ShortestPath(edge_labels=edge_labels), Edited(two_ways(), 1, n_edits=8))


def test_words_of_edges_are_those_of_hashing():
    keys = np.array([0, 1, 2**63], dtype=np.uint64)
    words = np.zeros_like(keys)
    edge_words(keys, words)
    assert words.tolist() == [int(crossed_word(key, 1.0)) for key in keys]
