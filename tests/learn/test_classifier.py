"""PropagationClassifier: folded weights, choice, probabilities, explanations."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

import propkernels as pk
from propkernels.learn.folding import FoldedRule, KernelRule


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(90, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    data = pk.datasets.make_molecules(90, random_state=1)
    return data.graphs, data.target + (np.arange(90) % 2) * data.target


def reference_machine(model, graphs, target):
    """SVC on the full Gram of the chosen kernel, with C in units of the mean diagonal."""
    kernel = clone(model.kernel_)
    gram = kernel.fit_transform(graphs)
    scale = gram.diagonal().mean()
    return kernel, scale, SVC(kernel="precomputed", C=model.C_).fit(gram / scale, target)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", [pk.PropagationKernel(t_max=3, n_hashes=2), pk.WeisfeilerLehman(n_iter=2)])
def test_folded_decisions_equal_the_machine_on_the_full_gram(data, kernel, normalize):
    train, test = data.graphs[:60], data.graphs[60:]
    model = pk.PropagationClassifier(kernel=kernel, C=[1, 10], normalize=normalize, random_state=0)
    model.fit(train, data.target[:60])
    kernel, scale, machine = reference_machine(model, train, data.target[:60])
    reference = machine.decision_function(kernel.transform(test) / scale)
    computed = model.decision_function(test)
    assert isinstance(model.rule_, FoldedRule)
    assert np.allclose(computed, reference, atol=1e-9)
    assert np.array_equal(model.predict(test), machine.predict(kernel.transform(test) / scale))


def test_several_classes_vote_like_libsvm(three_classes):
    graphs, target = three_classes
    model = pk.PropagationClassifier(C=10, t_max=2, random_state=0).fit(graphs[:60], target[:60])
    kernel, scale, machine = reference_machine(model, graphs[:60], target[:60])
    rows = kernel.transform(graphs[60:]) / scale
    assert np.array_equal(model.predict(graphs[60:]), machine.predict(rows))
    assert np.allclose(model.decision_function(graphs[60:]), machine.decision_function(rows), atol=1e-9)


def test_a_kernel_that_cannot_be_folded_is_kept(data):
    kernel = pk.PropagationKernel(t_max=2, base_kernel="jaccard")
    model = pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)
    assert isinstance(model.rule_, KernelRule)
    assert np.mean(model.predict(data.graphs) == data.target) > 0.8
    with pytest.raises(TypeError, match="PropagationKernel is no sum over nodes"):
        model.explain(data.graphs)


@pytest.mark.parametrize("attributes", [None, "sum"])
def test_contributions_add_up_to_the_decision(attributes):
    data = pk.datasets.make_synthetic(24, random_state=0)
    kernel = pk.PropagationKernel(t_max=3, attributes=attributes)
    model = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0).fit(
        data.graphs[:16], data.target[:16]
    )
    explanation = model.explain(data.graphs[16:])
    assert explanation.contributions.shape == (data.graphs[16:].n_nodes, model.t_max_ + 1)
    assert np.allclose(explanation.decisions, model.decision_function(data.graphs[16:]), atol=1e-9)


def test_contributions_between_two_of_several_classes(three_classes):
    graphs, target = three_classes
    model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(graphs, target)
    forward, backward = model.explain(graphs, (2, 0)), model.explain(graphs, (0, 2))
    assert np.allclose(forward.decisions, -backward.decisions)
    with pytest.raises(ValueError, match="name the two classes"):
        model.explain(graphs)
    with pytest.raises(ValueError, match="two different ones"):
        model.explain(graphs, (2, 2))


def test_probabilities_are_distributions_and_rank_like_decisions(data):
    model = pk.PropagationClassifier(C=10, random_state=0).fit(data.graphs[:60], data.target[:60])
    probabilities = model.predict_proba(data.graphs[60:])
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(
        np.argsort(probabilities[:, 1], kind="stable"),
        np.argsort(model.decision_function(data.graphs[60:]), kind="stable"),
    )


def test_the_choice_does_not_depend_on_the_order_of_candidates_kept(data):
    both = [pk.PropagationKernel(t_max=0), pk.PropagationKernel(t_max=3)]
    model = pk.PropagationClassifier(kernel=both, C=10, random_state=0).fit(data.graphs, data.target)
    assert model.t_max_ > 0
    assert model.score_ > 0.7


def test_fits_scikit_learn(data):
    model = pk.PropagationClassifier(C=10, t_max=[0, 2], random_state=0)
    assert cross_val_score(model, data.graphs, data.target, cv=3).mean() > 0.6
    search = GridSearchCV(model, {"normalize": [True, False]}, cv=2).fit(data.graphs, data.target)
    assert search.best_params_["normalize"] in (True, False)
    fitted = clone(model).fit(data.graphs, data.target)
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.decision_function(data.graphs), fitted.decision_function(data.graphs))


def test_same_seed_same_model_and_threads_do_not_matter(data):
    first = pk.PropagationClassifier(C=10, random_state=3).fit(data.graphs, data.target)
    second = pk.PropagationClassifier(C=10, random_state=3, n_jobs=2).fit(data.graphs, data.target)
    assert np.array_equal(first.decision_function(data.graphs), second.decision_function(data.graphs))


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"kernel": []}, ValueError, "empty list"),
        ({"kernel": pk.PropagationKernel}, TypeError, "kernel must be an estimator"),
        ({"normalize": "yes"}, ValueError, "normalize must be one of"),
        ({"C": -1}, ValueError, "C must be"),
        ({"n_folds": 1}, ValueError, "n_folds must be at least 2"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(data, parameters, kind, message):
    model = pk.PropagationClassifier(C=10, t_max=0, random_state=0).fit(data.graphs, data.target)
    before = model.decision_function(data.graphs)
    with pytest.raises(kind, match=message):
        model.set_params(**parameters).fit(data.graphs, data.target)
    assert np.array_equal(model.decision_function(data.graphs), before)
