"""Old names: they give what the new names give, with a warning, and are listed nowhere."""

from __future__ import annotations

import inspect
import subprocess
import sys
from operator import attrgetter

import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import propkernels as pk
from propkernels._utils.deprecation import MOVED, renamed_keywords, warn_renamed


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_gives_the_thing_at_its_new_place(name):
    with pytest.warns(DeprecationWarning, match=rf"propkernels\.{name} is now propkernels\.{MOVED[name]};"):
        found = getattr(pk, name)
    assert found == attrgetter(MOVED[name])(pk)


def test_old_names_are_listed_nowhere():
    assert not set(MOVED) & (set(pk.__all__) | set(dir(pk)))


def test_the_warning_is_about_the_line_that_uses_the_name():
    with pytest.warns(DeprecationWarning, match="knn_graph") as caught:
        pk.knn_graph  # noqa: B018
    with pytest.warns(DeprecationWarning, match="knn_graph") as imported:
        from propkernels import knn_graph  # noqa: F401
    assert {warning.filename for warning in [*caught, *imported]} == {__file__}


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="plot_nothing"):
        pk.plot_nothing  # noqa: B018


def test_the_warning_names_both_and_the_version():
    with pytest.warns(DeprecationWarning, match=r"^a is now b; the old name is removed in version 0\.3$"):
        warn_renamed("a", "b")


def test_old_names_cost_nothing_until_they_are_used():
    code = "import sys, propkernels; print(sorted(m for m in sys.modules if m.startswith('propkernels.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = ["propkernels._utils", "propkernels._utils.deprecation", "propkernels._version"]
    assert done.stdout.strip() == str(expected)


@renamed_keywords(n_folds="cv")
def split(graphs, cv=5):
    """Split graphs."""
    return graphs, cv


def test_old_keywords_are_translated():
    with pytest.warns(DeprecationWarning, match="n_folds is now cv") as caught:
        assert split([], n_folds=3) == ([], 3)
    assert caught[0].filename == __file__
    assert split([], cv=4) == ([], 4)
    assert list(inspect.signature(split).parameters) == ["graphs", "cv"]


def test_the_old_and_the_new_keyword_together_are_refused():
    with pytest.raises(TypeError, match="n_folds is the old name of cv: give cv alone"):
        split([], n_folds=3, cv=4)


RENAMED = [
    (pk.WeisfeilerLehman, "n_iter", "t_max", 4),
    (pk.WeisfeilerLehmanFeatures, "n_iter", "t_max", 4),
]


@pytest.mark.parametrize(("cls", "old", "new", "value"), RENAMED)
def test_old_parameters_work_everywhere(cls, old, new, value):
    """As keyword, in set_params, in a pipeline's set_params, and as attribute; copies have the new name."""
    expected = cls(**{new: value}).get_params()
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        assert cls(**{old: value}).get_params() == expected
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        assert cls().set_params(**{old: value}).get_params() == expected
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        pipeline = Pipeline([("step", cls())]).set_params(**{f"step__{old}": value})
    assert clone(pipeline)["step"].get_params() == expected
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}") as caught:
        assert getattr(pipeline["step"], old) == value
    assert caught[0].filename == __file__
    estimator = cls()
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        setattr(estimator, old, value)
    assert estimator.get_params() == expected


@pytest.mark.parametrize(("cls", "old", "new", "value"), RENAMED)
def test_signatures_have_the_new_name_alone(cls, old, new, value):
    names = set(inspect.signature(cls).parameters)
    assert new in names
    assert old not in names


OLD = [pk.PropagationClassifier, pk.PropagationRegressor]


@pytest.mark.parametrize("cls", OLD)
def test_old_parameters_of_models_are_translated(cls):
    with pytest.warns(DeprecationWarning, match="n_folds is now cv"):
        assert cls(n_folds=3).get_params() == cls(cv=3).get_params()


DATA = pk.datasets.make_molecules(20, random_state=0)
SETTINGS = {"t_max": 0, "C": 1.0, "random_state": 0}


@pytest.mark.parametrize("given", [(DATA,), (DATA.graphs, DATA.target)])
def test_evaluate_takes_the_old_order_with_a_warning(given):
    kernel = pk.LabelHistogram()
    expected = pk.evaluate(*given, kernel=kernel, cv=2, C=1.0, random_state=0).scores
    with pytest.warns(DeprecationWarning, match=r"evaluate\(kernel, .* is now evaluate\(graphs") as caught:
        computed = pk.evaluate(kernel, *given, cv=2, C=1.0, random_state=0).scores
    assert (computed == expected).all()
    assert caught[0].filename == __file__


def test_evaluate_takes_old_keywords_with_a_warning():
    expected = pk.evaluate(DATA, cv=2, inner_cv=3, **SETTINGS).scores
    with pytest.warns(DeprecationWarning, match="data is now graphs|_folds is now") as caught:
        computed = pk.evaluate(data=DATA, n_folds=2, inner_folds=3, **SETTINGS).scores
    assert (computed == expected).all()
    assert len(caught) == 3
