"""What every public classifier and regressor must satisfy: found by walking ``__all__``."""

import inspect
import itertools
import pickle
from functools import cache

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import propkernels as pk
from propkernels.models.solvers import SOLVERS
from tests.strategies import permute_graphs, permute_nodes
from tests.test_contract_discovery import has, public_classes
from tests.zoo import hide_labels, labelled_zoo, without_label, zoo

ROWS_NOT_GRAPHS = {
    "NodeClassifier": "has one target per node: tests/nodes/test_models.py",
    "NodeRegressor": "has one target per node: tests/nodes/test_models.py",
}
LEARNERS = {
    name: cls
    for name, cls in public_classes("fit", "predict").items()
    if not inspect.isabstract(cls) and name not in ROWS_NOT_GRAPHS
}
# Parameters that keep a learner quick in tests, wherever it has them.
QUICK = {"t_max": 1, "C": 1.0, "n_neighbors": 3, "random_state": 0}
every_learner = pytest.mark.parametrize("cls", list(LEARNERS.values()), ids=list(LEARNERS))
every_case = pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        pytest.param(cls, parameters, id="-".join([name, *parameters.values()]))
        for name, cls in LEARNERS.items()
        for parameters in [{}, *({"solver": one} for one in SOLVERS[1:] if has(cls, "solver"))]
    ],
)


def make(cls, **others):
    return cls(**{name: value for name, value in {**QUICK, **others}.items() if has(cls, name)})


@cache
def data():
    return pk.datasets.make_molecules(40, random_state=0, mean_nodes=10)


def target_of(cls):
    return data().target if is_classifier(cls()) else data().graphs.graph_sizes.astype(float)


SAID = ("predict_proba", "decision_function", "predict", "predict_set", "predict_interval", "score_samples")


def outputs(model, graphs):
    """All that a model says of graphs."""
    return [np.asarray(getattr(model, name)(graphs)) for name in SAID if hasattr(model, name)]


def assert_same(left, right, rtol=1e-7, atol=1e-9):
    for first, second in zip(left, right, strict=True):
        if first.dtype.kind == "f":
            np.testing.assert_allclose(first, second, rtol=rtol, atol=atol)
        else:
            assert np.array_equal(first, second)


def predictions(cls, parameters, graphs, y=None):
    """A learner of these graphs, and all that it says of them."""
    model = make(cls, **parameters).fit(graphs, target_of(cls) if y is None else y)
    return model, outputs(model, graphs)


def test_the_founding_learners_are_found():
    assert {"PropagationClassifier", "PropagationRegressor", "NoveltyDetector"} <= set(LEARNERS)
    assert {"NodeClassifier", "NodeRegressor"} == set(ROWS_NOT_GRAPHS)


@pytest.mark.slow
@every_case
def test_node_order_does_not_matter(cls, parameters):
    graphs = data().graphs
    model, reference = predictions(cls, parameters, graphs)
    turned = permute_nodes(graphs, np.random.default_rng(0))
    assert_same(outputs(model, turned), reference)
    again = make(cls, **parameters).fit(turned, target_of(cls))
    assert_same(outputs(again, graphs), reference, rtol=1e-6)


@pytest.mark.slow
@every_case
def test_new_graphs_in_any_order_and_one_at_a_time(cls, parameters):
    """Also of graphs some labels of which are hidden, in training and later."""
    for graphs in (data().graphs, hide_labels(data().graphs, 0.2)):
        model, _ = predictions(cls, parameters, graphs[:30], target_of(cls)[:30])
        together = outputs(model, graphs[30:])
        permuted, order = permute_graphs(graphs[30:], np.random.default_rng(0))
        assert_same(outputs(model, permuted), [values[order] for values in together])
        for size in (1, 7):
            runs = [outputs(model, graphs[i : min(i + size, 40)]) for i in range(30, 40, size)]
            for parts, whole in zip(zip(*runs, strict=True), together, strict=True):
                assert np.array_equal(np.concatenate(parts), whole)


@every_learner
def test_hiding_a_label_changes_nothing_that_is_said_of_other_graphs(cls):
    graphs = data().graphs[:8]
    model, reference = predictions(cls, {}, data().graphs)
    hidden = without_label(graphs, 0)
    for first, second in zip(reference, outputs(model, hidden), strict=True):
        assert np.array_equal(first[1:8], second[1:])
    if hasattr(model, "explain"):
        first, second = (model.explain(some).contributions for some in (graphs, hidden))
        others = graphs.graph_ptr[1]
        assert np.array_equal(first[others:], second[others:])


@pytest.mark.slow
@every_learner
def test_list_equals_database(cls):
    graphs = data().graphs
    _, listed = predictions(cls, {}, list(graphs))
    assert_same(listed, predictions(cls, {}, graphs)[1])


@pytest.mark.slow
@every_case
def test_same_seed_same_model_pickled_saved_or_threaded(cls, parameters, tmp_path):
    graphs = data().graphs
    model, reference = predictions(cls, parameters, graphs)
    threaded = clone(model).set_params(n_jobs=2).fit(graphs, target_of(cls))
    pk.save_model(model, tmp_path / "model")
    copies = [pickle.loads(pickle.dumps(model)), pk.load_model(tmp_path / "model"), threaded]
    for other in (*copies, clone(model).fit(graphs, target_of(cls))):
        for first, second in zip(outputs(other, graphs), reference, strict=True):
            assert np.array_equal(first, second)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::propkernels.models.ForeignGraphsWarning")
@every_case
def test_awkward_graphs_to_learn_from_and_to_judge(cls, parameters):
    graphs = labelled_zoo()
    y = np.arange(len(graphs)) % 2 if is_classifier(cls()) else np.arange(len(graphs)) / 4
    model, reference = predictions(cls, parameters, graphs, y)
    assert all(np.isfinite(values.astype(float)).all() for values in reference)
    animals = pk.GraphDatabase.concat([animal.with_attributes(None) for animal in zoo().values()])
    together = outputs(model, animals)
    single = [outputs(model, animals[[i]]) for i in range(len(animals))]
    assert_same([np.concatenate(parts) for parts in zip(*single, strict=True)], together)


@pytest.mark.slow
@every_learner
def test_bad_graphs_leave_a_fitted_learner_as_it_was(cls):
    model, reference = predictions(cls, {}, data().graphs)
    for name, bad in itertools.product(("fit", "predict"), ([], [np.ones((2, 3))], "graphs", [3], None)):
        with pytest.raises((ValueError, TypeError)):
            getattr(model, name)(*([bad] if name == "predict" else [bad, target_of(cls)]))
    assert_same(outputs(model, data().graphs), reference)


# models of nodes


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS_NOT_GRAPHS)
def test_nodes_in_any_order_pickled_saved_or_threaded(name, tmp_path):
    cls, order = getattr(pk, name), np.random.default_rng(0).permutation(80)
    graph = nx.stochastic_block_model([40, 40], [[0.2, 0.02], [0.02, 0.2]], seed=0)
    adjacency, truth = nx.to_scipy_sparse_array(graph, format="csr"), np.repeat([0, 1], 40)
    known = np.random.default_rng(1).random(80) < 0.5
    y = np.where(known, truth, -1) if name == "NodeClassifier" else np.where(known, truth * 3.0, np.nan)
    model = cls(C=1.0, random_state=0).fit(adjacency, y)
    pk.save_model(model, tmp_path / "model")
    copies = [pickle.loads(pickle.dumps(model)), pk.load_model(tmp_path / "model")]
    again = [clone(model).set_params(n_jobs=n).fit(adjacency, y) for n in (1, 2)]
    for other in (*copies, *again):
        assert np.array_equal(other.predict(), model.predict())
        if name == "NodeClassifier":
            assert np.array_equal(other.predict_proba(), model.predict_proba())
    turned = model.predict(adjacency[order][:, order])  # as if it were another graph
    np.testing.assert_allclose(turned, model.predict(adjacency)[order], rtol=1e-9)


# collections: a list or an array of graphs, asked at once


def _index(graphs, **options):
    return pk.GraphIndex(random_state=0, **options).fit(graphs).query(graphs, k=3)[0]


def _picked(graphs, **options):
    return pk.sets.MaxMinPicker(n_graphs=4, **options).fit(graphs).indices_


def _tested(graphs, **options):
    return pk.two_sample_test(graphs[::2], graphs[1::2], n_permutations=9, **options).statistic


QUESTIONS = {
    "graph_hash": lambda graphs, **options: pk.graph_hash(graphs, **options),
    "unique": lambda graphs, **options: pk.unique(graphs, return_inverse=True, **options)[1],
    "similarity": lambda graphs: pk.similarity(graphs),
    "GraphIndex": _index,
    "MaxMinPicker": _picked,
    "two_sample_test": _tested,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_to_collections_ignore_node_order_threads_and_the_form_of_input(name):
    ask, graphs = QUESTIONS[name], labelled_zoo()
    reference = np.asarray(ask(graphs))
    turned = permute_nodes(graphs, np.random.default_rng(0))
    for other in (turned, list(graphs)):
        assert_same([np.asarray(ask(other))], [reference])
    if name != "similarity":
        assert np.array_equal(np.asarray(ask(graphs, n_jobs=2)), reference)
