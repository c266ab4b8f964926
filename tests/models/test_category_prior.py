"""CategoryPrior: distributions from the most similar graphs."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict

import propkernels as pk
from propkernels.models.category_prior import class_shares, leave_one_out

SUMMED = pk.PropagationKernel(propagation=pk.Diffusion(0.5, "none"), t_max=3)


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(60, random_state=0)


def naive_distribution(row, classes, n_classes, k):
    """The k most similar graphs, one after the other; those as similar as the last one too."""
    order = sorted(range(len(row)), key=lambda i: -row[i])
    last = row[order[min(k, len(row)) - 1]]
    totals = [0.0] * n_classes
    for i in order:
        if row[i] >= last:
            totals[classes[i]] += row[i]
    return np.array(totals) / sum(totals)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 50])
def test_votes_equal_the_naive_ones(k):
    rng = np.random.default_rng(k)
    rows = rng.integers(1, 6, (8, 12)) / 5
    classes = rng.integers(0, 3, 12)
    reference = [naive_distribution(row, classes, 3, k) for row in rows]
    assert np.allclose(class_shares(rows, classes, 3, k), reference)


def test_order_does_not_matter():
    rng = np.random.default_rng(0)
    rows, classes = rng.integers(0, 3, (6, 10)).astype(float), rng.integers(0, 3, 10)
    order = rng.permutation(10)
    before, after = class_shares(rows, classes, 3, 4), class_shares(rows[:, order], classes[order], 3, 4)
    assert np.array_equal(before, after)


def test_a_graph_like_no_other_gets_the_frequencies():
    assert class_shares(np.zeros((1, 4)), np.array([0, 1, 1, 1]), 2, 2).tolist() == [[0.25, 0.75]]


def test_a_graph_like_no_other_is_not_counted_for_itself():
    classes = np.array([0, 0, 1, 1, 1, 1])
    assert leave_one_out(np.eye(6), classes, 2, [2]) == [4 / 6]
    assert leave_one_out(np.eye(4), classes[:4], 2, [2]) == [0.0], "the others are more of the other class"


@pytest.mark.parametrize("k", [1, 3])
def test_leave_one_out_equals_taking_each_graph_away(k):
    rng = np.random.default_rng(0)
    points, classes = rng.random((15, 4)), np.arange(15) % 3
    kernel = points @ points.T
    found = []
    for i in range(15):
        others = np.delete(np.arange(15), i)
        shares = class_shares(kernel[[i]][:, others], classes[others], 3, k)
        found.append(shares[0].argmax() == classes[i])
    assert leave_one_out(kernel, classes, 3, [5, k])[1] == pytest.approx(np.mean(found))


def test_one_neighbour_is_the_nearest_neighbour(data):
    prior = pk.CategoryPrior(kernel=SUMMED, n_neighbors=1, t_max=2, random_state=0)
    prior.fit(data.graphs[:50], data.target[:50])
    rows = prior.kernel_.transform(data.graphs[50:])
    assert np.array_equal(prior.predict(data.graphs[50:]), data.target[:50][rows.argmax(axis=1)])
    assert prior.kernel_.normalize
    assert (prior.t_max_, prior.n_neighbors_, prior.kernel_.t_max) == (2, 1, 2)


def test_what_is_chosen_is_best_on_the_training_graphs(data):
    prior = pk.CategoryPrior(kernel=SUMMED, n_neighbors=[1, 3, 5], random_state=0)
    prior.fit(data.graphs, data.target)
    scores = {}
    for t in range(4):
        kernel = clone(prior.kernel_).set_params(t_max=t).fit_transform(data.graphs)
        scores |= {(t, k): leave_one_out(kernel, data.target, 2, [k])[0] for k in (1, 3, 5)}
    best = max(scores.values())
    assert prior.score_ == best == scores[prior.t_max_, prior.n_neighbors_]
    largest = max(k for (_, k), score in scores.items() if score == best)
    assert prior.n_neighbors_ == largest
    assert prior.t_max_ == min(t for (t, k), score in scores.items() if score == best and k == largest)


@pytest.mark.slow
def test_leave_one_out_by_scikit_learn_is_the_score(data):
    """Codes of graphs do not depend on other graphs: fitting 30 times equals slicing one kernel."""
    prior = pk.CategoryPrior(kernel=SUMMED, n_neighbors=3, t_max=2, random_state=0)
    graphs, target = data.graphs[:30], data.target[:30]
    predicted = cross_val_predict(prior, graphs, target, cv=LeaveOneOut())
    assert np.mean(predicted == target) == prior.fit(graphs, target).score_


def test_distributions_and_predictions_agree(data):
    prior = pk.CategoryPrior(kernel=SUMMED, n_neighbors=7, random_state=0).fit(data.graphs, data.target)
    shares = prior.predict_proba(data.graphs)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(prior.predict(data.graphs), shares.argmax(axis=1))
    assert np.mean(prior.predict(data.graphs) == data.target) > 0.7


def test_names_of_classes_come_back(data):
    names = np.array(["apart", "bonded"])[data.target]
    prior = pk.CategoryPrior(kernel=SUMMED, random_state=0).fit(data.graphs, names)
    assert set(prior.predict(data.graphs)) <= {"apart", "bonded"}
    assert prior.score(data.graphs, names) > 0.7


def test_kernels_without_iterations_and_without_counts(data):
    small = data.graphs[:12], data.target[:12]
    for kernel in (pk.LabelHistogram(), pk.ShortestPath(), pk.GraphHopper()):
        prior = pk.CategoryPrior(kernel=kernel, random_state=0).fit(*small)
        assert prior.t_max_ is None
        assert prior.predict_proba(data.graphs[12:14]).shape == (2, 2)


def test_attributes_are_used_by_default():
    data = pk.datasets.make_synthetic(16, random_state=0)
    prior = pk.CategoryPrior(t_max=[0, 1], random_state=0).fit(data.graphs, data.target)
    assert prior.kernel_.attributes == "sum"


def test_grids():
    rng = np.random.default_rng(0)
    grids = pk.GridDatabase([rng.integers(0, 2 + i % 2, (6, 6)) for i in range(12)])
    prior = pk.CategoryPrior(t_max=2, random_state=0).fit(grids, np.arange(12) % 2)
    assert prior.score(grids, np.arange(12) % 2) == 1


def test_fits_scikit_learn(data):
    prior = pk.CategoryPrior(kernel=SUMMED, random_state=0)
    search = GridSearchCV(prior, {"n_neighbors": [1, 5], "normalize": [True, False]}, cv=2)
    search.fit(data.graphs, data.target)
    assert search.best_score_ > 0.5
    fitted = clone(prior).fit(data.graphs, data.target)
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.predict_proba(data.graphs), fitted.predict_proba(data.graphs))
    again = clone(prior).set_params(n_jobs=2).fit(data.graphs, data.target)
    assert np.array_equal(again.predict_proba(data.graphs), fitted.predict_proba(data.graphs))


def test_normalize_none_leaves_it_to_the_kernel(data):
    for flag in (True, False):
        kernel = clone(SUMMED).set_params(normalize=flag)
        prior = pk.CategoryPrior(kernel=kernel, normalize=None, t_max=1, random_state=0)
        assert prior.fit(data.graphs, data.target).kernel_.normalize is flag


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"n_neighbors": []}, ValueError, "n_neighbors needs at least one value"),
        ({"n_neighbors": 1.5}, TypeError, "n_neighbors must be a whole number"),
        ({"normalize": "auto"}, ValueError, "normalize must be one of"),
        ({"kernel": pk.PropagationKernel}, TypeError, "kernel must be an estimator"),
        ({"kernel": pk.LabelHistogram(), "t_max": 2}, ValueError, "t_max cannot be chosen"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(data, parameters, kind, message):
    prior = pk.CategoryPrior(kernel=SUMMED, t_max=1, random_state=0).fit(data.graphs, data.target)
    before = prior.predict_proba(data.graphs)
    with pytest.raises(kind, match=message):
        prior.set_params(**parameters).fit(data.graphs, data.target)
    assert np.array_equal(prior.predict_proba(data.graphs), before)


def test_an_incomplete_kernel_is_refused(data):
    class Incomplete(pk.LabelHistogram):
        def fit_transform(self, X, y=None):
            kernel = super().fit_transform(X)
            kernel[0, 1] = kernel[1, 0] = np.nan
            return kernel

    with pytest.raises(ValueError, match="the kernel matrix is incomplete"):
        pk.CategoryPrior(kernel=Incomplete()).fit(data.graphs, data.target)
