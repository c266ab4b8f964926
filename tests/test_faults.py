"""Faults that users meet in the common library cannot happen here: one test each."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import Diffusion
from tests.zoo import cycle_edges, labelled_zoo, one, path_edges


def molecules():
    """Six small graphs with string labels."""
    rng = np.random.default_rng(0)
    edges = [path_edges, cycle_edges]
    return pk.GraphDatabase.concat(
        [one(n, edges[n % 2](n), rng.choice(["C", "N", "O"], n).tolist()) for n in range(3, 9)]
    )


def test_a_row_does_not_depend_on_the_batch_it_is_sent_in():
    train, new = molecules()[:3], molecules()[3:]
    for metric in ("tv", "hellinger"):
        kernel = pk.PropagationKernel(metric=metric, normalize=True, random_state=0).fit(train)
        reference = kernel.transform(new)
        computed = np.concatenate([kernel.transform([graph]) for graph in new])
        assert np.array_equal(computed, reference)
        assert np.array_equal(kernel.transform(new[[2, 0, 0]]), reference[[2, 0, 0]])


def test_labels_unseen_in_fit_change_no_other_row():
    train, new = molecules()[:3], molecules()[3:]
    stranger = one(4, cycle_edges(4), ["Xe", "C", ("any", 1), "Xe"])
    for metric in ("tv", "hellinger"):
        kernel = pk.PropagationKernel(metric=metric, random_state=0).fit(train)
        reference = kernel.transform(new)
        computed = kernel.transform(pk.GraphDatabase.concat([stranger, new]))
        assert np.array_equal(computed[1:], reference)
        assert (computed[0] > 0).any()  # its carbon is still known


def test_labels_unseen_in_fit_give_what_fitting_on_all_gives():
    train, new = molecules()[:3], one(4, cycle_edges(4), ["Xe", "C", "Xe", "Xe"])
    together = pk.GraphDatabase.concat([train, new])
    for normalize in (False, True):
        reference = pk.PropagationKernel(normalize=normalize, random_state=0).fit_transform(together)[3:, :3]
        computed = pk.PropagationKernel(normalize=normalize, random_state=0).fit(train).transform(new)
        assert np.allclose(computed, reference, rtol=1e-12)


def test_refitting_one_seeded_object_gives_the_same_kernel():
    kernel = pk.PropagationKernel(bin_width=0.1, random_state=4)
    reference = kernel.fit_transform(molecules())
    kernel.fit(labelled_zoo())
    kernel.transform(labelled_zoo())
    assert np.array_equal(kernel.fit_transform(molecules()), reference)


def test_normalising_after_a_second_fit_uses_its_diagonal():
    kernel = pk.PropagationKernel(normalize=True, random_state=0)
    kernel.fit_transform(labelled_zoo())
    kernel.transform(labelled_zoo())
    computed = kernel.fit(molecules()).transform(molecules())
    reference = pk.PropagationKernel(normalize=True, random_state=0).fit_transform(molecules())
    assert np.allclose(computed, reference, rtol=1e-12)
    assert np.array_equal(np.diag(kernel.fit_transform(molecules())), np.ones(6))


def test_set_params_after_fit_takes_effect_at_the_next_fit():
    changes = {"t_max": 2, "metric": "hellinger", "bin_width": 0.5, "n_hashes": 2, "normalize": True}
    changes |= {"base_kernel": "tanimoto", "labels": "degree", "propagation": Diffusion(laziness=0.5)}
    for name, value in changes.items():
        kernel = pk.PropagationKernel(random_state=0)
        before = kernel.fit_transform(molecules())
        computed = kernel.set_params(**{name: value}).fit_transform(molecules())
        reference = pk.PropagationKernel(random_state=0, **{name: value}).fit_transform(molecules())
        assert np.array_equal(computed, reference)
        assert not np.array_equal(computed, before), name


def test_set_params_between_fit_and_transform_leaves_what_was_learned_consistent():
    features = pk.PropagationFeatures(random_state=0, n_features=32)
    reference = features.fit_transform(molecules()).toarray()
    features.set_params(n_features=None, t_max=1)
    assert np.array_equal(features.transform(molecules()).toarray(), reference)
    assert len(features.get_feature_names_out()) == 32


def test_integer_attributes_do_not_truncate_real_ones():
    edge = np.array([[0, 1], [1, 0]])
    tuples = [(edge, [0, 1], np.array([[1], [2]])), (edge, [0, 1], np.array([[0.5], [1.75]]))]
    computed = pk.check_graphs(tuples).node_attributes
    assert computed.dtype == np.float64
    assert computed.ravel().tolist() == [1.0, 2.0, 0.5, 1.75]
    twin = nx.Graph([(0, 1)])
    nx.set_node_attributes(twin, {0: [1], 1: [0.5]}, "attributes")
    assert pk.check_graphs([twin]).node_attributes.ravel().tolist() == [1.0, 0.5]


def test_nan_is_refused():
    with pytest.raises(ValueError, match=r"graph 1.*nan"):
        pk.PropagationKernel().fit([np.zeros((1, 1)), np.array([[0, np.nan], [1, 0]])])
    with pytest.raises(ValueError, match=r"bin_width.*nan"):
        pk.PropagationKernel(bin_width=float("nan")).fit(molecules())
    with pytest.raises(ValueError, match=r"laziness.*nan"):
        pk.PropagationKernel(propagation=Diffusion(laziness=float("nan"))).fit(molecules())
    twin = nx.Graph()
    twin.add_edge(0, 1, weight=float("nan"))
    with pytest.raises(ValueError, match="nan"):
        pk.PropagationKernel().fit([twin])


@pytest.mark.parametrize("integer", [np.int8, np.int32, np.int64, np.uint16])
def test_numpy_integers_are_integers(integer):
    reference = pk.PropagationKernel(t_max=3, n_hashes=2, random_state=1).fit_transform(molecules())
    kernel = pk.PropagationKernel(t_max=integer(3), n_hashes=integer(2), random_state=integer(1))
    assert np.array_equal(kernel.fit_transform(molecules()), reference)
    features = pk.PropagationFeatures(n_features=integer(8), random_state=integer(1))
    assert features.fit_transform(molecules()).shape == (6, 8)


def test_a_labelled_node_without_edges_is_counted():
    graphs = [one(3, [(0, 1)], ["C", "C", "O"]), one(1, [], ["O"]), one(2, [], ["O", "O"])]
    computed = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(pk.GraphDatabase.concat(graphs))
    reference = 3 * np.array([[5, 1, 2], [1, 1, 2], [2, 2, 4]])
    assert np.array_equal(computed, reference)
    lonely = nx.Graph()
    lonely.add_node("alone", label="O")
    assert pk.PropagationKernel(t_max=2, random_state=0).fit_transform([lonely]).tolist() == [[3.0]]


def test_networkx_weights_are_honoured():
    light, heavy = nx.path_graph(3), nx.path_graph(3)
    heavy.edges[0, 1]["weight"] = 5.0
    for graph in (light, heavy):
        nx.set_node_attributes(graph, {0: "a", 1: "b", 2: "c"}, "label")
    computed = pk.PropagationKernel(t_max=1, random_state=0).fit_transform([light, heavy])
    assert computed[0, 1] < computed[0, 0]
    adjacency = np.array([[0, 5.0, 0], [5.0, 0, 1], [0, 1, 0]])
    matrices = [(nx.to_numpy_array(light, weight=None), ["a", "b", "c"]), (adjacency, ["a", "b", "c"])]
    reference = pk.PropagationKernel(t_max=1, random_state=0).fit_transform(matrices)
    assert np.array_equal(computed, reference)


def test_a_fitted_object_with_n_jobs_can_be_pickled():
    for cls in (pk.PropagationKernel, pk.PropagationFeatures):
        estimator = cls(n_jobs=2, random_state=0).fit(molecules())
        computed = pickle.loads(pickle.dumps(estimator)).transform(molecules())
        reference = estimator.transform(molecules())
        difference = computed != reference
        assert (difference.nnz if cls is pk.PropagationFeatures else difference.sum()) == 0
