"""Hiding and flipping labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges, zoo


def n_observed(graphs):
    return int(graphs.label_column.observed.sum())


@pytest.mark.parametrize("fraction", [0, 0.2, 0.5, 0.999, 1])
def test_hide_hides_exactly_that_share(fraction):
    graphs = labelled_zoo()
    hidden = pk.datasets.hide_labels(graphs, fraction, random_state=0)
    assert n_observed(hidden) == n_observed(graphs) - round(fraction * n_observed(graphs))
    left = hidden.label_column.observed
    assert np.array_equal(hidden.node_labels[left], graphs.node_labels[left])
    assert hidden.with_labels(graphs.label_column) == graphs


@pytest.mark.slow
@given(
    graphs=databases(labelled="any", partial=True),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    seed=st.integers(0, 5),
)
def test_hiding_more_hides_the_same_nodes_and_more(graphs, shares, seed):
    less, more = (pk.datasets.hide_labels(graphs, share, seed).label_column.observed for share in shares)
    assert (more <= less).all()
    assert (less <= graphs.label_column.observed).all()


@pytest.mark.parametrize("corrupt", [pk.datasets.hide_labels, pk.datasets.flip_labels])
def test_a_seed_decides(corrupt):
    graphs = labelled_zoo()
    assert corrupt(graphs, 0.4, random_state=1) == corrupt(graphs, 0.4, random_state=1)
    assert corrupt(graphs, 0.4, random_state=1) != corrupt(graphs, 0.4, random_state=2)
    generator = np.random.RandomState(1)
    first, second = (corrupt(graphs, 0.4, random_state=generator) for _ in range(2))
    assert first == corrupt(graphs, 0.4, random_state=1)
    assert first != second
    assert corrupt(graphs, 0.4) != corrupt(graphs, 0.4)


@pytest.mark.parametrize("corrupt", [pk.datasets.hide_labels, pk.datasets.flip_labels])
def test_the_input_is_left_alone(corrupt):
    graphs = zoo()["two identical graphs"]
    labels = graphs.node_labels.copy()
    corrupt(graphs, 0.5, random_state=0)
    assert np.array_equal(graphs.node_labels, labels)


@pytest.mark.parametrize("corrupt", [pk.datasets.hide_labels, pk.datasets.flip_labels])
def test_lists_of_graphs_and_everything_else_about_them(corrupt):
    graphs = one(4, path_edges(4), ["a", "b", "a", "c"], attributes=np.arange(4.0), edge_labels=[1, 2, 3])
    changed = corrupt(graphs, 0.5, random_state=0)
    assert changed.with_labels(graphs.label_column) == graphs
    tuples = [(np.zeros((2, 2)), ["a", "b"]), (np.zeros((1, 1)), ["a"])]
    assert isinstance(corrupt(tuples, 0.5, random_state=0), pk.GraphDatabase)


@pytest.mark.parametrize("fraction", [0, 0.3, 1])
def test_flip_changes_exactly_that_share_to_other_labels(fraction):
    graphs = labelled_zoo()
    flipped = pk.datasets.flip_labels(graphs, fraction, random_state=0)
    changed = flipped.node_labels != graphs.node_labels
    assert changed.sum() == round(fraction * graphs.n_nodes)
    assert set(flipped.label_values) <= set(graphs.label_values)
    assert flipped.label_column.observed.all()


def test_flip_leaves_unobserved_nodes_unobserved():
    graphs = pk.datasets.hide_labels(labelled_zoo(), 0.5, random_state=0)
    flipped = pk.datasets.flip_labels(graphs, 1.0, random_state=0)
    observed = graphs.label_column.observed
    assert np.array_equal(flipped.label_column.observed, observed)
    assert (flipped.node_labels[observed] != graphs.node_labels[observed]).all()


def test_flip_draws_uniformly_from_the_other_labels():
    graphs = one(3000, [], np.repeat([0, 1, 2, 5], 750))
    flipped = pk.datasets.flip_labels(graphs, 1.0, random_state=0).node_labels
    for label in (0, 1, 2, 5):
        values, counts = np.unique(flipped[graphs.node_labels == label], return_counts=True)
        assert label not in values
        assert len(values) == 3
        assert (abs(counts - 250) < 60).all()  # more than four standard deviations


def test_flip_draws_only_labels_that_occur():
    graphs = labelled_zoo()[:2]
    assert len(graphs.label_column.values) > len(graphs.label_values)
    flipped = pk.datasets.flip_labels(graphs, 1.0, random_state=0)
    assert set(flipped.label_values) <= set(graphs.label_values)


@pytest.mark.parametrize("corrupt", [pk.datasets.hide_labels, pk.datasets.flip_labels])
@pytest.mark.parametrize(
    ("fraction", "error", "message"),
    [
        (-0.1, ValueError, r"fraction must be between 0 and 1, got -0\.1"),
        (20, ValueError, "fraction must be between 0 and 1, got 20"),
        (float("nan"), ValueError, "fraction must be between 0 and 1, got nan"),
        ("half", TypeError, "fraction must be a number, got 'half'"),
        (True, TypeError, "fraction must be a number, got True"),
    ],
)
def test_bad_fractions(corrupt, fraction, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        corrupt(labelled_zoo(), fraction)


@pytest.mark.parametrize("corrupt", [pk.datasets.hide_labels, pk.datasets.flip_labels])
def test_bad_graphs(corrupt):
    with pytest.raises(ValueError, match=r"^the graphs have no node labels to change$"):
        corrupt(zoo()["no labels"], 0.5)
    with pytest.raises(TypeError, match=r"^the graphs have label distributions: only certain labels can be "):
        corrupt(one(2, [], np.eye(2)), 0.5)
    with pytest.raises(ValueError, match="at least one graph"):
        corrupt([], 0.5)


def test_a_single_label_cannot_be_flipped():
    with pytest.raises(ValueError, match=r"^labels cannot be flipped: only one label occurs$"):
        pk.datasets.flip_labels(zoo()["one label"], 0.5, random_state=0)
    assert pk.datasets.flip_labels(zoo()["one label"], 0.0, random_state=0) == zoo()["one label"]


def test_graphs_of_which_nothing_is_observed_stay_so():
    graphs = zoo()["unobserved labels"]
    assert pk.datasets.hide_labels(graphs, 0.5, random_state=0) == graphs
    assert pk.datasets.flip_labels(graphs, 0.5, random_state=0) == graphs
