"""Hiding and flipping labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.data.corrupt import flip_labels, hide_labels
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges, zoo


def n_observed(graphs):
    return int(graphs.label_column.observed.sum())


@pytest.mark.parametrize("fraction", [0, 0.2, 0.5, 0.999, 1])
def test_hide_hides_exactly_that_share(fraction):
    graphs = labelled_zoo()
    hidden = hide_labels(graphs, fraction, random_state=0)
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
    less, more = (hide_labels(graphs, share, seed).label_column.observed for share in shares)
    assert (more <= less).all()
    assert (less <= graphs.label_column.observed).all()


@pytest.mark.parametrize("corrupt", [hide_labels, flip_labels])
def test_a_seed_decides(corrupt):
    graphs = labelled_zoo()
    assert corrupt(graphs, 0.4, random_state=1) == corrupt(graphs, 0.4, random_state=1)
    assert corrupt(graphs, 0.4, random_state=1) != corrupt(graphs, 0.4, random_state=2)


@pytest.mark.parametrize("corrupt", [hide_labels, flip_labels])
def test_the_input_is_left_alone(corrupt):
    graphs = zoo()["two identical graphs"]
    labels = graphs.node_labels.copy()
    corrupt(graphs, 0.5, random_state=0)
    assert np.array_equal(graphs.node_labels, labels)


@pytest.mark.parametrize("corrupt", [hide_labels, flip_labels])
def test_everything_else_about_them_stays(corrupt):
    graphs = one(4, path_edges(4), ["a", "b", "a", "c"], attributes=np.arange(4.0), edge_labels=[1, 2, 3])
    changed = corrupt(graphs, 0.5, random_state=0)
    assert changed.with_labels(graphs.label_column) == graphs


@pytest.mark.parametrize("fraction", [0, 0.3, 1])
def test_flip_changes_exactly_that_share_to_other_labels(fraction):
    graphs = labelled_zoo()
    flipped = flip_labels(graphs, fraction, random_state=0)
    changed = flipped.node_labels != graphs.node_labels
    assert changed.sum() == round(fraction * graphs.n_nodes)
    assert set(flipped.label_values) <= set(graphs.label_values)
    assert flipped.label_column.observed.all()


def test_flip_leaves_unobserved_nodes_unobserved():
    graphs = hide_labels(labelled_zoo(), 0.5, random_state=0)
    flipped = flip_labels(graphs, 1.0, random_state=0)
    observed = graphs.label_column.observed
    assert np.array_equal(flipped.label_column.observed, observed)
    assert (flipped.node_labels[observed] != graphs.node_labels[observed]).all()


def test_flip_draws_uniformly_from_the_other_labels():
    graphs = one(3000, [], np.repeat([0, 1, 2, 5], 750))
    flipped = flip_labels(graphs, 1.0, random_state=0).node_labels
    for label in (0, 1, 2, 5):
        values, counts = np.unique(flipped[graphs.node_labels == label], return_counts=True)
        assert label not in values
        assert len(values) == 3
        assert (abs(counts - 250) < 60).all()  # more than four standard deviations


def test_flip_draws_only_labels_that_occur():
    graphs = labelled_zoo()[:2]
    assert len(graphs.label_column.values) > len(graphs.label_values)
    flipped = flip_labels(graphs, 1.0, random_state=0)
    assert set(flipped.label_values) <= set(graphs.label_values)


@pytest.mark.parametrize("corrupt", [hide_labels, flip_labels])
def test_only_certain_labels_can_be_changed(corrupt):
    for graphs in (zoo()["no labels"], one(2, [], np.eye(2))):
        with pytest.raises(TypeError, match="only certain labels can be hidden or flipped"):
            corrupt(graphs, 0.5, random_state=0)


def test_graphs_of_which_nothing_is_observed_stay_so():
    graphs = zoo()["unobserved labels"]
    assert hide_labels(graphs, 0.5, random_state=0) == graphs
    assert flip_labels(graphs, 0.5, random_state=0) == graphs
