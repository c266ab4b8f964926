"""evaluate: folds, seeds, protocols, kernels, models and pipelines."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels._utils.progress import ProgressBar
from propkernels.models.cross_validation import evaluate
from propkernels.models.evaluation_result import Choice
from propkernels.models.folds import draw_seeds, split

DATA = pk.datasets.make_molecules(90, random_state=0)
KERNEL = pk.PropagationKernel(t_max=3)
FIXED = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), t_max=1, C=1, normalize=True)
QUICK = {"cv": 3, "random_state": 0}


class SizeKernel(BaseEstimator):
    """A kernel of someone else, that fits and transforms."""

    def fit(self, graphs, y=None):
        self.sizes_ = np.diff(graphs.graph_ptr).astype(float)
        return self

    def transform(self, graphs):
        return np.outer(np.diff(graphs.graph_ptr), self.sizes_)

    def fit_transform(self, graphs, y=None):
        return self.fit(graphs).transform(graphs)


def assert_same(left, right):
    np.testing.assert_array_equal(left.scores, right.scores)
    assert left.choices == right.choices


@pytest.mark.slow
def test_structure_is_learned_and_labels_alone_are_not_enough():
    data = pk.datasets.make_molecules(300, random_state=0)
    assert evaluate(data, model=KERNEL, **QUICK).mean > 0.7
    assert evaluate(data, model=pk.kernels.LabelHistogram(), **QUICK).mean < 0.6


def test_the_default_model_is_evaluated_by_default():
    result = evaluate(DATA, **QUICK)
    assert result.kernel == "PropagationClassifier"
    assert_same(result, evaluate(DATA, model=pk.PropagationClassifier(), **QUICK))
    sizes = np.diff(DATA.graphs.graph_ptr) + 0.5
    assert evaluate(DATA.graphs[:40], sizes[:40], **QUICK).kernel == "PropagationRegressor"


def test_a_fold_is_a_fit_on_its_training_part():
    """With the seed of the repeat, scored on the test part."""
    seeds = draw_seeds(0, 1)[0]
    result = evaluate(DATA, model=KERNEL, **QUICK)
    for number, (train, test) in enumerate(split(DATA.target, 3, None, True, seeds.outer)):
        kernel = pk.PropagationKernel(t_max=3, random_state=seeds.kernel)
        model = pk.PropagationClassifier(kernel=kernel, random_state=seeds.kernel)
        model.fit(DATA.graphs[train], DATA.target[train])
        assert result.scores[0, number] == model.score(DATA.graphs[test], DATA.target[test])
        assert result.choices[0][number] == Choice(model.t_max_, model.C_)


def test_pipelines_and_smiles():
    pytest.importorskip("rdkit")
    smiles = ["C" * n + end for n in range(1, 9) for end in ("O", "N", "Cl")]
    target = [int(text.endswith("O")) for text in smiles]
    pipeline = make_pipeline(pk.MoleculesToGraphs(node_labels="symbol"), clone(FIXED).set_params(C=100))
    result = evaluate(smiles, target, pipeline, cv=2, random_state=0)
    assert result.mean > 0.9
    assert result.choices == ((Choice(1, 100.0),) * 2,)


def test_same_seed_same_result_in_any_number_of_threads():
    result = evaluate(DATA, model=KERNEL, **QUICK)
    assert_same(result, evaluate(DATA, model=KERNEL, **QUICK, n_jobs=2))
    other = evaluate(DATA, model=KERNEL, cv=3, random_state=1)
    assert not np.array_equal(result.scores, other.scores)


def test_first_repeat_is_the_same_however_many_follow():
    once, twice = (evaluate(DATA, model=FIXED, **QUICK, n_repeats=r) for r in (1, 2))
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

    evaluate(DATA, model=Spy(t_max=1), **QUICK, n_repeats=3)
    assert len(set(seeds)) == 3
    assert all(isinstance(seed, int) for seed in seeds)


@pytest.mark.slow
@pytest.mark.parametrize("cv", [3, "loo"])
def test_targets_of_the_test_part_do_not_matter_for_the_choice(cv):
    data = pk.datasets.make_molecules(24, random_state=0)
    clean = evaluate(data, model=KERNEL, cv=cv, random_state=0)
    number, seeds = 1, draw_seeds(0, 1)[0]
    folds = split(data.target, cv, None, True, seeds.outer)
    poisoned = data.target.copy()
    poisoned[folds[number][1]] = 1 - poisoned[folds[number][1]]
    again = evaluate(data.graphs, poisoned, KERNEL, cv=folds, random_state=0)
    assert again.choices[0][number] == clean.choices[0][number]
    assert again.scores[0, number] == 1 - clean.scores[0, number]


def test_the_model_is_left_as_it_is():
    kernel = pk.PropagationKernel(t_max=3, random_state=None)
    evaluate(DATA, model=kernel, **QUICK)
    evaluate(DATA, model=FIXED, **QUICK)
    assert (kernel.t_max, kernel.random_state) == (3, None)
    assert not hasattr(kernel, "_counts")
    assert not hasattr(FIXED, "rule_")


def test_graphs_and_target_by_themselves():
    names = np.array(["apart", "bonded"])[DATA.target]
    result = evaluate(list(DATA.graphs), names, FIXED, **QUICK)
    assert_same(result, evaluate(DATA, model=FIXED, **QUICK))
    assert "on graphs:" in repr(result)


def test_any_estimator_with_fit_transform():
    result = evaluate(DATA, model=SizeKernel(), **QUICK)
    assert all(choice.t_max is None for choice in result.choices[0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_counted_fold_by_fold(n_jobs, monkeypatch):
    totals, steps = [], []
    init = ProgressBar.__init__

    def spied(self, text, total=None, *rest, **options):
        if text.startswith("evaluate"):
            totals.append(total)
            self.step = lambda n=1: steps.append(n)
        init(self, text, total, *rest, **options)

    monkeypatch.setattr(ProgressBar, "__init__", spied)
    evaluate(DATA, model=FIXED, **QUICK, n_repeats=2, n_jobs=n_jobs)
    assert totals == [6]
    assert steps == [1] * 6


def test_graphs_without_nodes():
    empty = (np.zeros((0, 0)), [])
    result = evaluate([empty] * 8, [0, 1] * 4, pk.PropagationKernel(t_max=1), cv=2, random_state=0)
    assert result.scores.tolist() == [[0.5, 0.5]]  # graphs that are all alike are put into one class


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": 1}, "cv must be at least 2"),
        ({"cv": 91}, "cv must be at most 45"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"target": [0, 1]}, "target has 2 values for 90 graphs"),
        ({"scoring": "luck"}, "scoring 'luck' is not a scorer of scikit-learn"),
        ({"groups": [1, 2]}, "groups must have one value for each of 90 graphs"),
        ({"cv": "all"}, 'cv must be a whole number, "loo" or a splitter'),
    ],
)
def test_bad_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(DATA, model=KERNEL, **arguments)


@pytest.mark.parametrize("model", [pk.PropagationKernel, 3, BaseEstimator()])
def test_what_is_no_model(model):
    with pytest.raises(TypeError, match="model must"):
        evaluate(DATA, model=model)


def test_graphs_without_target():
    with pytest.raises(TypeError, match="evaluate needs a target, or a data set with one; got GraphDatabase"):
        evaluate(DATA.graphs, model=KERNEL)


@pytest.mark.slow
@pytest.mark.data
def test_mutag(data_folder):
    data = pk.datasets.read_tu(data_folder / "MUTAG.zip")
    assert 0.82 <= evaluate(data, model=pk.PropagationKernel(), random_state=0, n_jobs=2).mean <= 0.9


def test_groups_stay_together():
    groups = np.arange(90) // 6
    assert evaluate(DATA, model=FIXED, groups=groups, **QUICK).protocol == "stratified 3-fold by groups"
    alone = evaluate(DATA, model=FIXED, groups=groups, cv="loo", random_state=0)
    assert (alone.protocol, alone.scores.shape) == ("leave-one-group-out", (1, 15))


@pytest.mark.slow
def test_numbers_are_predicted():
    sizes = np.diff(DATA.graphs.graph_ptr) + 0.5
    result = evaluate(DATA.graphs, sizes, KERNEL, **QUICK)
    assert result.metric == "r2"
    assert result.mean > 0.9
    errors = evaluate(DATA.graphs, sizes, KERNEL, scoring="neg_root_mean_squared_error", **QUICK)
    assert errors.choices == result.choices
    assert -sizes.std() < errors.mean < 0
    alone = evaluate(DATA.graphs[:30], sizes[:30], pk.kernels.LabelHistogram(), cv="loo", random_state=0)
    assert (alone.metric, alone.scores.shape) == ("neg_mean_absolute_error", (1, 30))
    with pytest.raises(ValueError, match='scoring="r2" needs more than one graph per fold'):
        evaluate(DATA.graphs, sizes, KERNEL, cv="loo", scoring="r2")


def test_a_regressor_says_what_it_wants():
    sizes = np.diff(DATA.graphs.graph_ptr)
    model = pk.PropagationRegressor(kernel=KERNEL, t_max=0, C=10)
    assert evaluate(DATA.graphs, sizes, model, **QUICK).metric == "r2"


def test_comparison_on_the_same_folds():
    walk, labels = (
        evaluate(DATA, model=model, n_repeats=2, **QUICK) for model in (KERNEL, pk.kernels.LabelHistogram())
    )
    test = walk.compare(labels)
    assert (test.n_folds, test.difference) == (6, pytest.approx(walk.mean - labels.mean))
    assert walk.test_ratio == pytest.approx(0.5)
    other = evaluate(DATA, model=FIXED, cv=3, n_repeats=2, random_state=1)
    with pytest.raises(ValueError, match="different folds"):
        walk.compare(other)


@pytest.mark.parametrize("model", [pk.kernels.LabelHistogram(), FIXED])
def test_confusion_counts_every_test_graph(model):
    result = evaluate(DATA, model=model, n_repeats=2, scoring="roc_auc", **QUICK)
    assert result.classes == DATA.target_names
    np.testing.assert_array_equal(result.confusion.sum(axis=1), 2 * np.bincount(DATA.target))
    accuracy = evaluate(DATA, model=model, n_repeats=2, **QUICK)
    assert np.trace(accuracy.confusion) / accuracy.confusion.sum() == pytest.approx(accuracy.mean)
    numbers = evaluate(DATA.graphs, np.linspace(0, 1, 90), pk.kernels.LabelHistogram(), cv=3)
    assert numbers.confusion is None
    assert numbers.classes == ()
