"""PropagationClassifier: folded weights, choice, probabilities, explanations."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import propkernels as pk
from propkernels.counts.entries import Vocabulary
from propkernels.explain.members import FoldedMember, KernelMember
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from tests.strategies import permute_nodes


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(90, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    data = pk.datasets.make_molecules(90, random_state=1)
    return data.graphs, data.target + (np.arange(90) % 2) * data.target


def least_squares(gram, targets, ridge, weights=None):
    """Coefficients and intercepts from the system of all unknowns, as it is in textbooks."""
    n, w = len(gram), np.ones(len(gram)) if weights is None else weights / weights.mean()
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = w[:, None] * gram + ridge * gram.diagonal().mean() * np.eye(n)
    system[:n, n], system[n, :n] = w, 1.0
    solved = np.linalg.solve(system, np.vstack([w[:, None] * targets, np.zeros(targets.shape[1])]))
    return solved[:n], solved[n]


def reference_decisions(model, graphs, targets, new):
    """Mean over the chosen kernels of K a + b."""
    found = []
    for kernel in model.kernel_.kernels if isinstance(model.kernel_, pk.SumKernel) else [model.kernel_]:
        kernel = clone(kernel)
        dual, intercept = least_squares(kernel.fit_transform(graphs), targets, 1 / model.C_)
        found.append(kernel.transform(new) @ dual + intercept)
    return np.mean(found, axis=0)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", [pk.PropagationKernel(t_max=3, n_hashes=2), pk.WeisfeilerLehman(t_max=2)])
def test_folded_decisions_are_least_squares_on_the_full_gram(data, kernel, normalize):
    train, test = data.graphs[:60], data.graphs[60:]
    model = pk.PropagationClassifier(kernel=kernel, C=10, normalize=normalize, random_state=0)
    model.fit(train, data.target[:60])
    expected = reference_decisions(model, train, 2.0 * data.target[:60, None] - 1, test)[:, 0]
    assert all(isinstance(member, FoldedMember) for member in model.rule_.members)
    np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-9)
    assert np.array_equal(model.predict(test), expected > 0)


def test_each_of_several_classes_has_a_decision(three_classes):
    graphs, target = three_classes
    kernels = [pk.PropagationKernel(), pk.WeisfeilerLehman(base_kernel="jaccard")]
    model = pk.PropagationClassifier(kernel=kernels, C=10, t_max=2, random_state=0)
    model.fit(graphs[:60], target[:60])
    columns = np.where(target[:60, None] == np.arange(3), 1.0, -1.0)
    expected = reference_decisions(model, graphs[:60], columns, graphs[60:])
    np.testing.assert_allclose(model.decision_function(graphs[60:]), expected, atol=1e-9)
    assert np.array_equal(model.predict(graphs[60:]), expected.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_decisions_are_those_of_refits(three_classes, n_classes):
    graphs, target = three_classes[0][:30], three_classes[1][:30] % n_classes
    options = {"kernel": pk.WeisfeilerLehman(t_max=2), "t_max": 2, "C": 5, "normalize": False}
    model = pk.PropagationClassifier(**options, random_state=0).fit(graphs, target)
    gram, columns = pk.WeisfeilerLehman(t_max=2).fit_transform(graphs), np.arange(n_classes)
    columns = np.where(target[:, None] == columns, 1.0, -1.0)[:, n_classes == 2 :]
    ridge = 0.2 * gram.diagonal().mean()
    for i in range(0, 30, 7):
        rest = np.setdiff1d(np.arange(30), [i])
        inner = gram[np.ix_(rest, rest)]
        dual, intercept = least_squares(inner, columns[rest], ridge / inner.diagonal().mean())
        np.testing.assert_allclose(model.held_out_[i], gram[i, rest] @ dual + intercept, atol=1e-9)
    assert model.score_ == np.mean(model._layout.predictions(model.held_out_) == target)


def test_a_kernel_that_cannot_be_folded_is_kept(data):
    kernel = pk.PropagationKernel(t_max=2, base_kernel="rbf")
    model = pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)
    assert isinstance(model.rule_.members[0], KernelMember)
    assert np.mean(model.predict(data.graphs) == data.target) > 0.8
    with pytest.raises(TypeError, match="PropagationKernel is not a dot product of counts") as refusal:
        model.explain(data.graphs)
    named = re.search(r"kernel=(Prop.*) for that", str(refusal.value)).group(1)
    explained = pk.PropagationClassifier(kernel=eval(named, vars(pk))).fit(data.graphs, data.target)
    assert explained.rule_.is_explained


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


@pytest.mark.slow
def test_contributions_between_two_of_several_classes(three_classes):
    graphs, target = three_classes
    model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(graphs, target)
    forward, backward = model.explain(graphs, (2, 0)), model.explain(graphs, (0, 2))
    assert np.allclose(forward.decisions, -backward.decisions)
    with pytest.raises(ValueError, match="two different ones"):
        model.explain(graphs, (2, 2))


@pytest.mark.slow
def test_predict_and_explain_make_one_pass_of_codes(three_classes, monkeypatch):
    graphs, target = three_classes
    model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(graphs, target)
    entered, enter = [], Vocabulary.enter
    monkeypatch.setattr(Vocabulary, "enter", lambda self, *rest: entered.append(self) or enter(self, *rest))
    predicted = model.predict(graphs)
    assert len(entered) == len(set(entered)) == len(model.rule_.vocabularies)
    entered.clear()
    explanation = model.explain(graphs)
    assert len(entered) == len(set(entered)) == len(model.rule_.vocabularies)
    assert np.array_equal(explanation.speaks_for, predicted)
    decisions = model.decision_function(graphs)
    np.testing.assert_allclose(explanation.decisions, decisions.max(axis=1), atol=1e-12, rtol=0)
    for number, name in enumerate(model.classes_):
        np.testing.assert_allclose(model.explain(graphs, name).decisions, decisions[:, number], atol=1e-12)


@pytest.mark.slow
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


@pytest.mark.slow
def test_fits_scikit_learn(data):
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(), C=10, t_max=[0, 2], random_state=0)
    assert cross_val_score(model, data.graphs, data.target, cv=3).mean() > 0.6
    search = GridSearchCV(model, {"normalize": [True, False]}, cv=2).fit(data.graphs, data.target)
    assert search.best_params_["normalize"] in (True, False)
    fitted = clone(model).fit(data.graphs, data.target)
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.decision_function(data.graphs), fitted.decision_function(data.graphs))


@pytest.mark.slow
def test_same_seed_same_model_and_threads_do_not_matter(data):
    first = pk.PropagationClassifier(C=10, random_state=3).fit(data.graphs, data.target)
    second = pk.PropagationClassifier(C=10, random_state=3, n_jobs=2).fit(data.graphs, data.target)
    assert np.array_equal(first.decision_function(data.graphs), second.decision_function(data.graphs))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"kernel": []}, ValueError, "empty list"),
        ({"kernel": pk.PropagationKernel}, TypeError, "kernel must be an estimator"),
        ({"normalize": "yes"}, ValueError, "normalize must be one of"),
        ({"C": -1}, ValueError, "C must be"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(data, parameters, kind, message):
    model = pk.PropagationClassifier(C=10, t_max=0, random_state=0).fit(data.graphs, data.target)
    before = model.decision_function(data.graphs)
    with pytest.raises(kind, match=message):
        model.set_params(**parameters).fit(data.graphs, data.target)
    assert np.array_equal(model.decision_function(data.graphs), before)


# any solver, any parameter, any order


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_threads_processes_and_the_order_of_nodes_do_not_matter(three_classes, solver):
    graphs, target = three_classes
    parameters = {"solver": solver, "t_max": [0, 2], "C": [1, 10], "random_state": 0}
    if solver == "gp":  # which takes long: one kernel is enough
        parameters["kernel"] = pk.PropagationKernel()
    one = pk.PropagationClassifier(**parameters).fit(graphs, target)
    two = pk.PropagationClassifier(**parameters, n_jobs=2).fit(graphs, target)
    expected = one.predict_proba(graphs)
    assert np.array_equal(two.predict_proba(graphs), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict_proba(graphs), expected)
    shuffled = permute_nodes(graphs, np.random.default_rng(0))
    assert np.allclose(one.predict_proba(shuffled), expected, rtol=1e-9)
    again = pk.PropagationClassifier(**parameters).fit(shuffled, target)
    assert np.allclose(again.predict_proba(graphs), expected, rtol=1e-6, atol=1e-9)
    assert np.allclose(one.predict_proba(graphs[::-1]), expected[::-1], rtol=1e-9)


def test_the_order_of_training_graphs_does_not_matter_once_settings_are_fixed(data):
    """Other samples may choose otherwise."""
    fixed = {"kernel": pk.PropagationKernel(), "t_max": 2, "C": 1, "normalize": True, "random_state": 0}
    order = np.random.default_rng(0).permutation(60)
    one = pk.PropagationClassifier(**fixed).fit(data.graphs[:60], data.target[:60])
    other = pk.PropagationClassifier(**fixed).fit(data.graphs[order], data.target[order])
    assert np.allclose(
        one.decision_function(data.graphs[60:]), other.decision_function(data.graphs[60:]), atol=1e-9
    )


@pytest.mark.slow
def test_any_parameter_can_be_searched(data):
    fixed = {"C": 1, "t_max": 1, "normalize": False, "random_state": 0}
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(), **fixed)
    grids = [
        {
            "kernel__propagation": ["auto", pk.propagation.Diffusion(laziness=0.5)],
            "kernel__bin_width": [1e-5, 1e-2],
        },
        {"solver": ["ridge", "linear"], "normalize": [True, False]},
        {"t_max": [0, [0, 1]], "C": [1, [1, 10]], "cv": [2, 3]},
        {"kernel": [None, pk.WeisfeilerLehman()], "random_state": [0, 1]},
    ]
    search = GridSearchCV(model, grids, cv=2).fit(data.graphs[:40], data.target[:40])
    results = search.cv_results_
    assert len(results["params"]) == 4 + 4 + 8 + 4
    for i in (1, 6, 19):  # what the search found is what a model with these parameters reaches
        candidate = clone(model).set_params(**results["params"][i])
        scores = cross_val_score(candidate, data.graphs[:40], data.target[:40], cv=2)
        assert results["mean_test_score"][i] == scores.mean()


@pytest.mark.slow
def test_a_list_of_kernels_is_a_choice_of_scheme_laziness_and_attributes():
    data = pk.datasets.make_synthetic(30, random_state=0)
    kernels = [
        pk.PropagationKernel(propagation=pk.propagation.Diffusion(laziness=laziness), attributes=how, t_max=2)
        for laziness in (0.0, 0.5)
        for how in (None, "sum")
    ]
    model = pk.PropagationClassifier(kernel=kernels, C=[1, 10], random_state=0).fit(data.graphs, data.target)
    assert model.kernel_.attributes == "sum"  # without attributes there is nothing to learn
    assert model.score_ > 0.9


@pytest.mark.slow
def test_a_gaussian_process_is_less_sure_of_strange_graphs(data):
    model = pk.PropagationClassifier(solver="gp", normalize=True, t_max=2, C=[10, 100], random_state=0)
    model.fit(data.graphs, data.target)
    known = np.abs(model.predict_proba(data.graphs)[:, 1] - 0.5)
    strange = data.graphs.with_labels(["unheard of"] * data.graphs.n_nodes)
    with pytest.warns(pk.models.ForeignGraphsWarning):
        assert np.abs(model.predict_proba(strange)[:, 1] - 0.5).max() < known.mean()
    assert np.array_equal(model.predict(data.graphs), model.predict_proba(data.graphs).argmax(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_classes_of_one_graph(data, solver):
    target = np.array(["many"] * 12 + ["few"] * 5 + ["one"])
    model = pk.PropagationClassifier(solver=solver, t_max=1, C=[1, 10], random_state=0)
    with pytest.warns(UserWarning, match="class one has a single graph"):
        model.fit(data.graphs[:18], target)
    probabilities = model.predict_proba(data.graphs[:18])
    assert probabilities.shape == (18, 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert set(model.predict(data.graphs)) <= set(target)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(data.graphs[:18]))
    assert model.predict_set(data.graphs[:18], 0.6).shape == (18, 3)
    assert model.predict_set(data.graphs[:18])[:, 2].all()  # of one graph nothing can be excluded


def test_attributes_are_seen_by_default():
    data = pk.datasets.make_synthetic(24, random_state=0)
    model = pk.PropagationClassifier(t_max=1, C=10, random_state=0).fit(data.graphs, data.target)
    parts = model.kernel_.kernels if isinstance(model.kernel_, pk.SumKernel) else [model.kernel_]
    assert any(getattr(part, "attributes", None) is not None for part in parts)


@pytest.mark.slow
def test_fitted_state_is_made_of_arrays_numbers_and_dataclasses(data):
    """What is saved to a file holds no estimator of scikit-learn's."""
    for solver in ("ridge", "svm", "landmarks", "linear", "gp"):
        model = pk.PropagationClassifier(solver=solver, t_max=1, C=10, random_state=0)
        model.fit(data.graphs, data.target)
        fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
        assert not [n for n, v in fitted.items() if type(v).__module__.startswith("sklearn")]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_the_choice_makes_one_pass_for_each_kernel(solver, monkeypatch):
    data, passes = pk.datasets.make_molecules(40, random_state=0), []
    codes = RefinementCoder.codes
    monkeypatch.setattr(
        RefinementCoder, "codes", lambda self, *rest: passes.append(self.t_max) or codes(self, *rest)
    )
    kernels = [pk.WeisfeilerLehman(t_max=2), pk.WeisfeilerLehman(t_max=3, labels="degree")]
    model = pk.PropagationClassifier(kernel=kernels, solver=solver, random_state=0)
    model.fit(data.graphs, data.target)
    assert passes[:2] == [2, 3]
    assert len(passes) == (2 if solver == "ridge" else 3)


@pytest.mark.parametrize("solver", ["ridge", "linear"])
@pytest.mark.parametrize("has_attributes", [True, False])
def test_decisions_of_default_models_are_the_same_to_the_bit_in_any_batch(solver, has_attributes):
    data = pk.datasets.make_molecules(60, random_state=0)
    attributes = np.random.default_rng(0).normal(size=(data.graphs.n_nodes, 2))
    graphs = data.graphs.with_attributes(attributes) if has_attributes else data.graphs
    model = pk.PropagationClassifier(C=1.0, t_max=1, cv=2, solver=solver, random_state=0)
    model.fit(graphs[:40], data.target[:40])
    together = model.predict_proba(graphs)
    for size in (1, 7):
        parts = [model.predict_proba(graphs[i : i + size]) for i in range(0, len(graphs), size)]
        assert np.array_equal(np.concatenate(parts), together)


def test_classes_of_another_target_have_no_names_of_the_data_set():
    graphs = pk.datasets.make_molecules(40, random_state=0).graphs
    data = pk.datasets.Dataset("some", graphs, np.arange(40) % 3, ("crimson", "green", "blue"))
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    model.fit(data.graphs, np.arange(40) % 2)
    assert model.class_names_ is None
    assert model.explain(data.graphs[:3]).subject == "for class 1 against class 0"
    assert "crimson" not in str(model.counterfactuals(data.graphs[0], max_edits=1, n=1))
    assert model.fit(data.graphs, np.arange(40) % 2 + 1).class_names_ == ["green", "blue"]


def test_names_of_classes_travel_with_the_model(tmp_path):
    graphs, target = pk.datasets.make_molecules(40, random_state=0).graphs, np.arange(40) % 2
    data = pk.datasets.Dataset("some", graphs, target, ("blocked", "passes"))
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    model.fit(data.graphs, data.target)
    pk.save_model(model, tmp_path / "model.pk")
    loaded, plain = pk.load_model(tmp_path / "model.pk"), graphs[:3]
    assert model.class_names_ == loaded.class_names_ == ["blocked", "passes"]
    assert loaded.explain(plain).subject == "for passes against blocked"
    assert loaded.top_bins(plain, n=1).subject == "for passes against blocked"
    changes = loaded.counterfactuals(plain[0], max_edits=1, n=1)
    assert "positive for passes" in changes.title
    assert changes.records()[0]["prediction"] in (
        "blocked",
        "passes",
    )
    nameless = graphs.with_names(classes={})
    assert model.fit(nameless, target).explain(nameless).subject == "for class 1 against class 0"
