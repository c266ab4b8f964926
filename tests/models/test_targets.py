"""Targets: classes, numbers, and those that are missing."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models.targets import (
    ClassTarget,
    check_kinds,
    check_numbers,
    check_several,
    check_target,
    check_weights,
    known_targets,
)


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(40, random_state=0)


def test_classes_may_be_any_values():
    assert check_target(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert check_target(np.array([1.0, -1.0]), 2).tolist() == [1, 0]
    check_kinds(np.array([[0, "a"], [1, None]], dtype=object))  # several columns are no classes


@pytest.mark.parametrize(
    ("target", "places"),
    [
        ([1.5, np.nan, 2.5], [0, 2]),
        (["a", None, "nan"], [0, 2]),
        (["a", np.nan, "nan"], [0, 2]),
        (np.array([True, None, False], dtype=object), [0, 2]),
        (np.array([1.5, 2.5, 0.5], dtype=object), [0, 1, 2]),
        (np.ma.masked_array([1, 2, 3], [False, True, False]), [0, 2]),
        ([0, 1, 1], [0, 1, 2]),
        ([[np.nan, 1], [0, 1], [1, 1]], [0, 1, 2]),
    ],
)
def test_graphs_that_have_a_target(target, places):
    known = known_targets(target, 3)
    assert known.places.tolist() == places
    assert np.array_equal(known.target.astype(str), np.asarray(target)[places].astype(str))
    assert known.target.dtype.kind != "O"


def known_classes(target, n):
    known = known_targets(target, n)
    return check_target(known.target, len(known.places))


def class_weights(weights, n):
    return ClassTarget.of(np.array([0, 1]), n, None, weights)


def known_numbers(target, n):
    return check_numbers(known_targets(target, n).target, n)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 1e151], r"at most 1e\+150 in size, but that of graph 1 is not \(1e\+151\): give"),
        ([1.0, -np.inf], "must be finite, but that of graph 1 is not"),
        ([0.0, 1e-200], "must differ by at least 1e-150 between graphs"),
    ],
)
def test_numbers_whose_squares_are_lost_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        check_numbers(values, 2)
    with pytest.raises(ValueError, match=message):
        check_several(np.column_stack([values, [np.nan, 0.0]]), 2)


@pytest.mark.parametrize("model", [pk.PropagationClassifier, pk.PropagationRegressor])
def test_gaps_of_several_columns_may_be_masked_or_those_of_pandas(data, model):
    pd = pytest.importorskip("pandas")
    numbers, gaps = np.column_stack([data.target, np.arange(40) % 2]), np.arange(80).reshape(40, 2) % 7 == 0
    fixed = {"kernel": "labels", "C": 1.0, "normalize": False, "random_state": 0}
    fitted = model(**fixed).fit(data.graphs, np.where(gaps, np.nan, numbers))
    frame = pd.DataFrame(numbers, columns=["a", "b"]).astype("Int64").mask(gaps)
    for y in (np.ma.array(numbers, mask=gaps), frame):
        np.testing.assert_array_equal(model(**fixed).fit(data.graphs, y).held_out_, fitted.held_out_)
        assert fitted.score(data.graphs, y) == fitted.score(data.graphs, np.where(gaps, np.nan, numbers))


def test_an_error_names_the_graph_in_the_list_of_the_user(data):
    target = np.linspace(0.1, 0.9, 40)
    target[3], target[7] = np.nan, np.inf
    with pytest.warns(UserWarning, match="1 of 40"), pytest.raises(ValueError, match="graph 7 is not"):
        pk.PropagationRegressor(t_max=0).fit(data.graphs, target)


def quick(model, **options):
    return model(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0, **options)


def as_numbers(classes):
    return classes + np.linspace(0.1, 0.5, len(classes))


LEARNERS = {
    "classifier": (lambda: quick(pk.PropagationClassifier), np.asarray),
    "regressor": (lambda: quick(pk.PropagationRegressor), as_numbers),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_models_learn_from_graphs_that_have_a_target(name, data):
    make, target_of = LEARNERS[name]
    target = target_of(data.target).astype(object)
    target[::3] = None
    known = np.flatnonzero(np.arange(40) % 3)
    with pytest.warns(UserWarning, match="14 of 40 graphs have no target and are left out"):
        model = make().fit(data.graphs, target)
    expected = make().fit(data.graphs[known], target_of(data.target)[known])
    assert np.array_equal(model.predict(data.graphs), expected.predict(data.graphs))
    assert model.score(data.graphs, target) == model.score(data.graphs[known], target_of(data.target)[known])


def test_weights_and_groups_go_with_their_graphs(data):
    target, known = data.target.astype(float), np.flatnonzero(np.arange(40) % 3)
    target[::3] = np.nan
    weights, groups = np.arange(1.0, 41), np.arange(40) // 4
    with pytest.warns(UserWarning, match="14 of 40"):
        model = quick(pk.PropagationClassifier).fit(data.graphs, target, weights, groups)
    other = quick(pk.PropagationClassifier).fit(
        data.graphs[known], target[known], weights[known], groups[known]
    )
    assert np.array_equal(model.decision_function(data.graphs), other.decision_function(data.graphs))
    folds = [(np.arange(20), np.arange(20, 40))]
    with pytest.raises(ValueError, match="cv is a list of folds of all graphs"):
        quick(pk.PropagationClassifier, cv=folds).fit(data.graphs, target)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_evaluate_leaves_out_what_has_no_target(kind, data):
    target = (data.target if kind == "classes" else as_numbers(data.target)).astype(float)
    known = np.flatnonzero(np.arange(40) % 3)
    options = {"cv": 3, "random_state": 0}
    expected = pk.evaluate(data.graphs[known], target[known], pk.WeisfeilerLehman(t_max=1), **options)
    target[::3] = np.nan
    with pytest.warns(UserWarning, match="14 of 40 graphs have no target and are left out"):
        found = pk.evaluate(data.graphs, target, pk.WeisfeilerLehman(t_max=1), **options)
    assert np.array_equal(found.scores, expected.scores)
    assert found.classes == expected.classes


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_the_unit_of_the_target_does_not_matter(solver, data):
    target = as_numbers(data.target)

    def predicted(unit):
        model = pk.PropagationRegressor(
            kernel=pk.WeisfeilerLehman(t_max=1), C=[1, 10], solver=solver, random_state=0
        )
        return model.fit(data.graphs, unit * target).predict(data.graphs)

    expected = predicted(1.0)
    for unit in (2.0**-40, 2.0**40, 2.0**-300, 2.0**300):  # powers of 2 round nothing
        assert np.array_equal(predicted(unit), unit * expected)
    for unit in (1e-12, 1e12):
        assert np.allclose(predicted(unit) / unit, expected, rtol=1e-3, atol=1e-3)


def kinds(*several):
    target = np.empty(4, dtype=object)
    target[:] = several * 2
    return target


@pytest.mark.parametrize(
    ("check", "target", "n", "kind", "message"),
    [
        (check_target, [0, 1], 3, ValueError, "target has 2 values for 3 graphs"),
        (check_target, 5, 3, ValueError, "target has 1 values for 3 graphs"),
        (check_target, [0.5, 1.5, 2.5], 3, ValueError, "one class label per graph, got a continuous target"),
        (check_target, [[0, 1], [1, 0], [1, 1]], 3, ValueError, "got a multilabel-indicator target"),
        (check_target, [4, 4, 4], 3, ValueError, r"at least two classes, got only \[4\]"),
        (check_target, [0, 1] * 17, 1, ValueError, "34 values for 1 graph: for targets of nodes, use Node"),
        (check_numbers, [0, 1] * 17, 1, ValueError, "34 values for 1 graph: for targets of nodes, use Node"),
        (check_target, kinds(1, "a"), 4, TypeError, "all numbers or all strings"),
        (check_target, kinds((1, 2), "a"), 4, TypeError, "all numbers or all strings"),
        (check_target, np.array([1j, 2j]), 2, ValueError, "^Complex data not supported: class labels must"),
        (check_numbers, [np.nan, np.nan], 2, ValueError, "target must be finite"),
        (known_targets, [None, None], 2, ValueError, "the target of all 2 graphs is missing"),
        (known_classes, ["a", 1], 2, TypeError, "all numbers or all strings, got int and str"),
        (known_classes, [0, "0", None], 3, TypeError, "all numbers or all strings, got int and str"),
        (known_numbers, [1.5, ">2"], 2, ValueError, "1 censored value, such as '>2'"),
        (check_weights, [-1.0, 2.0], 2, ValueError, "^sample_weight must be finite, nonnegative and not all"),
        (class_weights, {0: -1.0}, 2, ValueError, "^class_weight must be finite, nonnegative and not all"),
        (known_targets, ["a", (1, 2)], 2, ValueError, "rows differ in length"),
    ],
)
def test_what_is_no_target_is_refused(check, target, n, kind, message):
    with pytest.raises(kind, match=message):
        check(target, n)
