"""evaluate, end to end."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

import propkernels as pk
from propkernels._utils.progress import ProgressBar
from propkernels.models.candidates import PAPER_COSTS
from propkernels.models.cross_validation import evaluate
from propkernels.models.evaluation_result import Choice
from propkernels.models.folds import draw_seeds
from propkernels.models.study import Protocol

DATA = pk.datasets.make_molecules(90, random_state=0)
KERNEL = pk.PropagationKernel(t_max=3)
QUICK = {"cv": 3, "C": [1, 100], "random_state": 0}


class SizeKernel(BaseEstimator):
    def fit_transform(self, graphs, y=None):
        sizes = np.diff(graphs.graph_ptr).astype(float)
        return np.outer(sizes, sizes)


def draw_folds(target, n_folds, seeds):
    return Protocol(n_folds, 5, None, True).folds(target, seeds, has_choice=True)


def count_correct(kernel, target, train, test, cost):
    """Hits of an SVM by itself; C is in units of one over the mean diagonal."""
    scale = kernel.diagonal()[train].mean()
    machine = SVC(kernel="precomputed", C=cost).fit(kernel[np.ix_(train, train)] / scale, target[train])
    return int(np.sum(machine.predict(kernel[np.ix_(test, train)] / scale) == target[test]))


def assert_same(left, right):
    np.testing.assert_array_equal(left.scores, right.scores)
    assert left.choices == right.choices


@pytest.mark.slow
def test_structure_is_learned_and_labels_alone_are_not_enough():
    data = pk.datasets.make_molecules(300, random_state=0)
    assert evaluate(data, kernel=KERNEL, **QUICK).mean > 0.7
    assert evaluate(data, kernel=KERNEL, t_max=0, **QUICK).mean < 0.6


@pytest.mark.slow
def test_same_seed_same_result():
    result = evaluate(DATA, kernel=KERNEL, **QUICK)
    assert_same(result, evaluate(DATA, kernel=KERNEL, **QUICK))
    assert_same(result, evaluate(DATA, kernel=KERNEL, **QUICK, n_jobs=2))


@pytest.mark.slow
def test_another_seed_another_split():
    other = evaluate(DATA, kernel=KERNEL, **{**QUICK, "random_state": 1})
    assert not np.array_equal(evaluate(DATA, kernel=KERNEL, **QUICK).scores, other.scores)


@pytest.mark.slow
def test_first_repeat_is_the_same_however_many_follow():
    once, twice = (evaluate(DATA, kernel=KERNEL, **QUICK, repeats=r) for r in (1, 2))
    assert twice.scores.shape == (2, 3)
    assert len(twice.kernel_seconds) == 2
    np.testing.assert_array_equal(once.scores[0], twice.scores[0])


def test_hashes_are_drawn_anew_for_each_repeat():
    seeds = []

    class Spy(pk.PropagationKernel):
        def fit_transform_cumulative(self, graphs, y=None):
            seeds.append(self.random_state)
            return super().fit_transform_cumulative(graphs)

        __init__ = pk.PropagationKernel.__init__

    evaluate(DATA, kernel=Spy(t_max=1), **QUICK, repeats=3)
    assert len(set(seeds)) == 3
    assert all(isinstance(seed, int) for seed in seeds)


def test_equals_fit_on_train_and_transform_of_test():
    """Slices of the full kernel are what an inductive run gives."""
    seeds = draw_seeds(0, 1)[0]
    result = evaluate(DATA, kernel=KERNEL, cv=3, t_max=2, C=10, random_state=0)
    for fold, score in zip(draw_folds(DATA.target, 3, seeds), result.scores[0], strict=True):
        kernel = pk.PropagationKernel(t_max=2, random_state=seeds.kernel)
        known = kernel.fit_transform(DATA.graphs[fold.train])
        unknown = kernel.transform(DATA.graphs[fold.test])
        n, m = len(fold.train), len(fold.test)
        full = np.block([[known, unknown.T], [unknown, np.zeros((m, m))]])
        target = DATA.target[np.concatenate([fold.train, fold.test])]
        correct = count_correct(full, target, np.arange(n), np.arange(n, n + m), 10.0)
        assert correct / m == score


@pytest.mark.slow
def test_labels_of_the_test_fold_do_not_influence_the_choice():
    """Exchanging labels inside a test fold keeps the folds, and must keep that fold's choice."""
    result = evaluate(DATA, kernel=KERNEL, **QUICK)
    for number, fold in enumerate(draw_folds(DATA.target, 3, draw_seeds(0, 1)[0])):
        poisoned = DATA.target.copy()
        poisoned[fold.test] = 1 - poisoned[fold.test]
        choice = choice_on_fold(fold, poisoned)
        assert choice == result.choices[0][number]


def choice_on_fold(fold, target):
    kernel = pk.PropagationKernel(t_max=3, random_state=draw_seeds(0, 1)[0].kernel)
    hits = {
        Choice(t, cost): sum(count_correct(matrix, target, *split, cost) for split in fold.inner)
        for t, matrix in enumerate(kernel.fit_transform_cumulative(DATA.graphs))
        for cost in (1.0, 100.0)
    }
    return max(hits, key=hits.get)


def test_fixed_values_need_no_inner_loop():
    result = evaluate(DATA, kernel=KERNEL, cv=3, t_max=[2], C=[10], random_state=0)
    assert result.choices == ((Choice(2, 10.0),) * 3,)


def test_kernel_is_left_as_it_is():
    kernel = pk.PropagationKernel(t_max=3, random_state=None)
    evaluate(DATA, kernel=kernel, cv=3, t_max=[1], C=[1], random_state=0)
    assert (kernel.t_max, kernel.random_state) == (3, None)
    assert not hasattr(kernel, "_counts")


@pytest.mark.slow
def test_graphs_and_target_by_themselves():
    names = np.array(["apart", "bonded"])[DATA.target]
    result = evaluate(list(DATA.graphs), names, KERNEL, **QUICK)
    assert_same(result, evaluate(DATA, kernel=KERNEL, **QUICK))
    assert "on graphs:" in repr(result)


def test_any_estimator_with_fit_transform():
    result = evaluate(DATA, kernel=SizeKernel(), **QUICK)
    assert all(choice.t_max is None for choice in result.choices[0])


@pytest.fixture
def told(monkeypatch):
    """Steps of progress bars."""
    steps = []
    monkeypatch.setattr(ProgressBar, "step", lambda bar, n=1: steps.append(n))
    return steps


@pytest.mark.slow
def test_progress_is_told_fold_by_fold(told):
    evaluate(DATA, kernel=KERNEL, **QUICK, repeats=2, n_jobs=2)
    assert told == [1] * 6


def test_progress_is_a_word_of_two():
    with pytest.raises(ValueError, match="progress must be None, True or False"):
        evaluate(DATA, kernel=KERNEL, **QUICK, progress="bar")


def test_kernel_with_fewer_steps_for_graphs_without_nodes():
    empty = (np.zeros((0, 0)), [])
    result = evaluate([empty] * 8, [0, 1] * 4, pk.PropagationKernel(t_max=1), cv=2, random_state=0)
    assert result.scores.tolist() == [[0.5, 0.5]]  # graphs that are all alike are put into one class


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": 1}, "cv must be at least 2"),
        ({"cv": 91}, "cv must be at most 45"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"C": []}, "C needs at least one value"),
        ({"t_max": -1}, "t_max must be at least 0"),
        ({"target": [0, 1]}, "target has 2 values for 90 graphs"),
    ],
)
def test_bad_numbers(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(DATA, kernel=KERNEL, **arguments)


def test_graphs_without_target():
    with pytest.raises(TypeError, match="evaluate needs a target, or a data set with one; got GraphDatabase"):
        evaluate(DATA.graphs, kernel=KERNEL)


@pytest.mark.slow
@pytest.mark.data
def test_mutag(data_folder):
    data = pk.datasets.read_tu(data_folder / "MUTAG.zip")
    assert 0.835 <= evaluate(data, kernel=pk.PropagationKernel(), random_state=0, n_jobs=2).mean <= 0.87


# other protocols, targets and models


LEFT_OUT = {"t_max": [0, 2], "C": [1, 10], "cv": "loo", "inner_cv": 3, "random_state": 0}


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["exhaustive", "race"])
def test_a_poisoned_test_graph_changes_no_choice(selection):
    """Leaving one out, another graph with another class in its place is chosen for in the same way."""
    data = pk.datasets.make_molecules(18, random_state=0)
    arguments = {**LEFT_OUT, "selection": selection}
    choices = evaluate(data.graphs, data.target, KERNEL, **arguments).choices[0]
    strange = pk.datasets.make_molecules(18, random_state=7).graphs
    for poisoned in (0, 11):
        graphs = [strange[i] if i == poisoned else data.graphs[i] for i in range(18)]
        target = data.target.copy()
        target[poisoned] = 1 - target[poisoned]
        assert evaluate(graphs, target, KERNEL, **arguments).choices[0][poisoned] == choices[poisoned]


@pytest.mark.slow
def test_poison_reaches_the_choices_of_the_other_folds():
    """The test above can fail: where the graph is trained on, choices do change."""
    data = pk.datasets.make_molecules(18, random_state=0)
    clean = evaluate(data.graphs, data.target, KERNEL, **LEFT_OUT)
    target = data.target.copy()
    target[:4] = 1 - target[:4]
    assert evaluate(data.graphs, target, KERNEL, **LEFT_OUT).choices != clean.choices


@pytest.mark.slow
def test_exhaustive_selection_is_the_choice_of_all_candidates():
    """Every machine of every candidate on every fold, one after the other."""
    data = pk.datasets.make_molecules(80, random_state=3)
    costs = (0.1, 1.0, 10.0)
    result = evaluate(data, kernel=KERNEL, cv=4, C=costs, random_state=5, selection="exhaustive")
    seeds = draw_seeds(5, 1)[0]
    kernels = pk.PropagationKernel(t_max=3, random_state=seeds.kernel).fit_transform_cumulative(data.graphs)
    for choice, fold in zip(result.choices[0], draw_folds(data.target, 4, seeds), strict=True):
        correct = [
            [
                sum(count_correct(kernels[t], data.target, *split, cost) for split in fold.inner)
                for cost in costs
            ]
            for t in range(4)
        ]
        step, cost = divmod(int(np.argmax(correct)), len(costs))
        assert choice == Choice(step, costs[cost])


@pytest.mark.parametrize("normalize", [True, False])
def test_the_papers_costs_are_for_the_kernel_as_it_is(normalize):
    kernel = pk.PropagationKernel(t_max=1, normalize=normalize)
    result = evaluate(DATA, kernel=kernel, cv=3, t_max=1, C="paper", random_state=0)
    assert {choice.C for choice in result.choices[0]} <= set(PAPER_COSTS[normalize])
    gram = pk.PropagationKernel(t_max=1, random_state=draw_seeds(0, 1)[0].kernel).fit_transform(DATA.graphs)
    if not normalize:
        fold, choice = draw_folds(DATA.target, 3, draw_seeds(0, 1)[0])[0], result.choices[0][0]
        machine = SVC(kernel="precomputed", C=choice.C).fit(
            gram[np.ix_(fold.train, fold.train)], DATA.target[fold.train]
        )
        found = machine.score(gram[np.ix_(fold.test, fold.train)], DATA.target[fold.test])
        assert found == pytest.approx(result.scores[0, 0])


@pytest.mark.slow
def test_groups_stay_together():
    groups = np.arange(90) // 6
    result = evaluate(DATA, kernel=KERNEL, groups=groups, **QUICK)
    assert result.protocol == "stratified 3-fold by groups"
    assert evaluate(DATA, kernel=KERNEL, groups=groups, **{**QUICK, "cv": "loo"}).scores.shape == (1, 15)


@pytest.mark.slow
def test_numbers_are_predicted():
    sizes = np.diff(DATA.graphs.graph_ptr) + 0.5
    result = evaluate(DATA.graphs, sizes, KERNEL, **QUICK)
    assert result.metric == "r2"
    assert result.mean > 0.9
    errors = evaluate(DATA.graphs, sizes, KERNEL, scoring="neg_root_mean_squared_error", **QUICK)
    assert errors.choices == result.choices
    assert -sizes.std() < errors.mean < 0
    alone = evaluate(DATA.graphs[:30], sizes[:30], KERNEL, t_max=0, C=10, cv="loo", random_state=0)
    assert (alone.metric, alone.scores.shape) == ("neg_mean_absolute_error", (1, 30))
    with pytest.raises(ValueError, match='scoring="r2" needs more than one graph per fold'):
        evaluate(DATA.graphs, sizes, KERNEL, cv="loo", scoring="r2")


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_models_are_fitted_on_each_training_part(solver):
    model = pk.PropagationClassifier(kernel=KERNEL, C=[1, 100], normalize=None, solver=solver)
    result = evaluate(DATA, kernel=model, cv=3, random_state=0)
    assert result.kernel == "PropagationClassifier"
    assert result.mean > 0.6
    assert all(choice.t_max is not None for choice in result.choices[0])
    if solver == "kernel":  # the same folds, the same candidates, other inner folds
        assert abs(result.mean - evaluate(DATA, kernel=KERNEL, **QUICK).mean) < 0.15
    assert not hasattr(model, "rule_")


def test_a_regressor_says_what_it_wants():
    sizes = np.diff(DATA.graphs.graph_ptr)
    model = pk.PropagationRegressor(kernel=KERNEL, t_max=0, C=10, epsilon=0.1)
    assert evaluate(DATA.graphs, sizes, model, cv=3, random_state=0).metric == "r2"


def test_comparison_on_the_same_folds():
    walk, labels = (
        evaluate(DATA, kernel=KERNEL, t_max=t, cv=3, repeats=2, C=1, random_state=0) for t in (3, 0)
    )
    test = walk.compare(labels)
    assert (test.n_folds, test.difference) == (6, pytest.approx(walk.mean - labels.mean))
    assert walk.test_ratio == pytest.approx(0.5)
    other = evaluate(DATA, kernel=KERNEL, t_max=0, cv=3, repeats=2, C=1, random_state=1)
    with pytest.raises(ValueError, match="different folds"):
        walk.compare(other)


@pytest.mark.slow
def test_progress_and_threads_of_other_protocols(told):
    one = evaluate(DATA.graphs[:20], DATA.target[:20], KERNEL, t_max=1, C=[1, 10], cv="loo", random_state=0)
    two = evaluate(
        DATA.graphs[:20],
        DATA.target[:20],
        KERNEL,
        t_max=1,
        C=[1, 10],
        cv="loo",
        random_state=0,
        n_jobs=2,
    )
    assert_same(one, two)
    assert told == [1] * 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scoring": "luck"}, "scoring 'luck' is not a scorer of scikit-learn"),
        ({"selection": "magic"}, "selection must be one of"),
        ({"groups": [1, 2]}, "groups must have one value for each of 90 graphs"),
        ({"inner_cv": 1}, "inner_cv must be at least 2"),
        ({"cv": "all"}, 'cv must be a whole number, "loo" or a splitter'),
        ({"C": "mine"}, 'C must be a number, several numbers or "paper"'),
    ],
)
def test_bad_protocols(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(DATA, kernel=KERNEL, **arguments)


def test_steps_of_a_model_are_its_own():
    with pytest.raises(ValueError, match="set it in PropagationClassifier"):
        evaluate(DATA, kernel=pk.PropagationClassifier(), t_max=3)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [KERNEL, pk.PropagationClassifier(kernel=KERNEL, C=1.0, t_max=1)])
def test_confusion_counts_every_test_graph(kernel):
    options = {"cv": 3, "random_state": 0, "repeats": 2}
    if not hasattr(kernel, "predict"):
        options |= {"C": 10, "t_max": 1}
    result = evaluate(DATA, kernel=kernel, **options)
    assert result.classes == DATA.target_names
    np.testing.assert_array_equal(result.confusion.sum(axis=1), 2 * np.bincount(DATA.target))
    assert np.trace(result.confusion) / result.confusion.sum() == pytest.approx(result.mean)
    numbers = evaluate(DATA.graphs, np.linspace(0, 1, 90), pk.PropagationKernel(), C=1, t_max=0, cv=3)
    assert numbers.confusion is None
    assert numbers.classes == ()


@pytest.mark.slow
def test_a_chosen_score_does_not_count_twice():
    result = evaluate(DATA, kernel=KERNEL, **QUICK, scoring="roc_auc")
    assert result.confusion.sum() == len(DATA.target)
