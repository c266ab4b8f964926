"""Fingerprints of graphs: by bytes, and of everything that they hold."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.fingerprint import fingerprint
from tests.zoo import labelled_zoo, one, path_edges

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def changed_weight():
    adjacency = GRAPHS.adjacency.copy()
    adjacency.data = adjacency.data * (1 + 1e-15)
    return pk.GraphDatabase(adjacency, GRAPHS.graph_ptr, node_labels=GRAPHS.label_column)


OTHERS = {
    "order": lambda: GRAPHS[::-1],
    "labels": lambda: GRAPHS.with_labels(None),
    "attributes": lambda: GRAPHS.with_attributes(np.zeros((GRAPHS.n_nodes, 1))),
    "one bit of the weights": changed_weight,
    "hidden labels": lambda: pk.datasets.hide_labels(GRAPHS, 0.5, random_state=0),
    "fewer": lambda: GRAPHS[:5],
}


@pytest.mark.parametrize("name", OTHERS)
def test_any_change_is_noticed(name):
    assert fingerprint(OTHERS[name]()) != fingerprint(GRAPHS)


def test_the_same_graphs_have_the_same_fingerprint():
    again = pk.GraphDatabase(GRAPHS.adjacency, GRAPHS.graph_ptr, node_labels=list(GRAPHS.node_labels))
    assert (
        fingerprint(again) == fingerprint(GRAPHS) == fingerprint(GRAPHS[:3].concat([GRAPHS[:3], GRAPHS[3:]]))
    )
    with np.printoptions(precision=1, threshold=3):
        assert fingerprint(GRAPHS) == fingerprint(again)


def test_it_is_the_same_on_every_machine():
    """Pinned: files that were written elsewhere must be recognized."""
    path = one(3, path_edges(3), ["C", "N", "C"])
    assert fingerprint(path) == "32ae87c69139bdbdab634824bdb92fa1c231cca9b61acd6db7a1d2eb33497731"


def test_grids_and_distributions():
    grids = pk.GridDatabase([np.zeros((2, 3), int), np.ones((2, 2), int)])
    assert fingerprint(grids) != fingerprint(grids[::-1])
    zoo = labelled_zoo()
    assert fingerprint(zoo) == fingerprint(labelled_zoo())
