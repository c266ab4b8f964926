"""PropagationClassifier: folded weights, choice, probabilities, explanations."""

import re

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.rule import FoldedMember, KernelMember


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
    assert "random_state" not in named
    explained = pk.PropagationClassifier(kernel=eval(named, vars(pk))).fit(data.graphs, data.target)
    assert explained.rule_.is_explained


# any solver, any parameter, any order


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
    assert changes.records()[0]["prediction"] in ("blocked", "passes")
    nameless = graphs.with_names(classes={})
    assert model.fit(nameless, target).explain(nameless).subject == "for class 1 against class 0"
