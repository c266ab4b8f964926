"""Tracked counts after random edits equal the counts of the edited graph from scratch, exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import propkernels as pk
from propkernels.graphs.labels import LabelColumn
from propkernels.tracking import trackers
from tests.strategies import graphs as drawn_graphs
from tests.tracking.edited import Edited, check_counts
from tests.zoo import zoo

SUMMED = pk.Diffusion(0.5, "none")
TRACKED = {
    "walk": pk.PropagationKernel(propagation=pk.Diffusion(), t_max=3, n_hashes=2, random_state=0),
    "lazy, vanishing": pk.PropagationKernel(
        propagation=pk.Diffusion(0.3, isolated="vanish"), t_max=2, random_state=1
    ),
    "sums": pk.PropagationKernel(propagation=SUMMED, t_max=3, random_state=2),
    "symmetric": pk.PropagationKernel(
        propagation=pk.Diffusion(0.1, "symmetric"), t_max=2, bin_width=0.01, random_state=3
    ),
    "degrees": pk.PropagationKernel(propagation=SUMMED, labels="degree", t_max=2, random_state=4),
    "magnitudes of degrees": pk.PropagationKernel(
        propagation=SUMMED, labels="log_degree", bin_width=1.0, t_max=1, random_state=4
    ),
    "constant": pk.PropagationKernel(propagation=SUMMED, labels=None, t_max=2, random_state=5),
    "frequent labels": pk.PropagationKernel(
        propagation=pk.Diffusion(), prior="frequency", t_max=2, random_state=6
    ),
    "refinement": pk.WeisfeilerLehman(t_max=3),
    "refined degrees": pk.WeisfeilerLehman(t_max=2, labels="degree"),
    "histogram": pk.LabelHistogram(),
    "paths": pk.ShortestPath(),
    "paths between degrees": pk.ShortestPath(labels="degree"),
}
WITH_EDGE_LABELS = {
    "sums over labeled edges": pk.PropagationKernel(
        propagation=SUMMED, edge_labels=True, t_max=3, random_state=0
    ),
    "walk over labeled edges": pk.PropagationKernel(
        propagation=pk.Diffusion(), edge_labels=True, t_max=2, random_state=0
    ),
    "refinement over labeled edges": pk.WeisfeilerLehman(t_max=3, edge_labels=True),
    "paths of labeled edges": pk.ShortestPath(edge_labels=True),
}
ALL = TRACKED | WITH_EDGE_LABELS


def trackable_zoo():
    """The single graphs of the zoo, without attributes, that edits can be tracked on."""
    kept = {name: one.with_attributes(None) for name, one in zoo().items() if len(one) == 1}
    return {name: one for name, one in kept.items() if trackers.is_trackable(one)}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACKED)
def test_counts_of_the_zoo(name):
    for seed, graph in enumerate(trackable_zoo().values()):
        check_counts(clone(TRACKED[name]), Edited(graph, seed, n_edits=6))


def test_the_trackable_zoo_is_awkward():
    names = set(trackable_zoo())
    assert names >= {"no nodes", "single node", "isolated nodes", "star", "mixed-type labels", "no labels"}
    assert names.isdisjoint({"self-loops", "weighted", "directed cycle"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_counts_of_any_graph(name, data):
    graph = data.draw(drawn_graphs(1, 7, labelled="any", partial=True, loops=False, edge_labels=True))
    edited = Edited(graph, data.draw(st.integers(0, 99)), labels=[0, "new"], bonds=[0, 7])
    check_counts(clone(ALL[name]), edited)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACKED)
def test_counts_of_molecules(name):
    molecules = pk.datasets.make_molecules(6, random_state=0).graphs
    for i in (0, 5):
        check_counts(clone(TRACKED[name]), Edited(molecules[[i]], i))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
def test_counts_of_a_small_graph(name):
    matrix = np.zeros((5, 5))
    for a, b in [(0, 1), (1, 2), (2, 0), (2, 3)]:
        matrix[a, b] = matrix[b, a] = 1
    graph = pk.GraphDatabase(matrix, [0, 5], list("CNCOC"), edge_labels=[0, 0, 0, 1, 0, 1, 2, 2])
    check_counts(clone(ALL[name]), Edited(graph, 0, n_edits=5))


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_counts_of_attributes(combine):
    graph = pk.datasets.make_molecules(1, random_state=3).graphs
    attributes = np.random.default_rng(0).normal(size=(graph.n_nodes, 2))
    attributes[1] = np.nan
    kernel = pk.PropagationKernel(attributes=combine, t_max=2, n_hashes=2, random_state=0)
    check_counts(kernel, Edited(graph.with_attributes(attributes), 0))


def test_counts_of_label_entries():
    graph = pk.datasets.make_molecules(1, random_state=3).graphs
    labels = [(label, i % 2) for i, label in enumerate(graph.node_labels)]
    check_counts(pk.WeisfeilerLehman(t_max=2, labels="entries"), Edited(graph.with_labels(labels), 0))


def test_graphs_that_cannot_be_tracked():
    assert trackers.is_trackable(zoo()["cycle"])
    for name in ("self-loops", "weighted", "directed cycle"):
        assert not trackers.is_trackable(zoo()[name])
    two_names = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], [0, 0], edge_labels=["there", "back"])
    assert not trackers.is_trackable(two_names)


def test_no_tracker_where_memory_would_not_suffice(monkeypatch):
    edited = Edited(zoo()["cycle"], 0, n_edits=2)
    for limit, kernel in ((1, "walk"), (16, "refinement"), (64, "paths")):
        vocabulary = edited.vocabulary(clone(TRACKED[kernel]))
        assert vocabulary.tracker(edited.graph, edited.alphabet) is not None
        monkeypatch.setattr(trackers, "MOST_VALUES", limit)
        assert vocabulary.tracker(edited.graph, edited.alphabet) is None
        monkeypatch.undo()


def test_degrees_start_as_those_of_nodes():
    graph = zoo()["star"]
    alphabet = Edited(graph, 0, 1).alphabet
    column = trackers.start_column("degree", graph, alphabet)
    assert isinstance(column, LabelColumn)
    assert [column.values[i] for i in column.ids] == list(range(trackers.most_degrees(graph, alphabet)))
