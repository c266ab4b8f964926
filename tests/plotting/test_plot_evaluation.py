"""plot_evaluation: dots, means, lines between equal folds."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models.evaluation_result import Choice, Evaluation

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def make_evaluation(scores, metric="accuracy", split="a"):
    scores = np.array(scores, dtype=float)
    choices = tuple((Choice(1, 1.0),) * scores.shape[1] for _ in scores)
    return Evaluation("MUTAG", "PK", scores, choices, (0.1,), 1.0, metric=metric, split=split)


FIRST, SECOND = make_evaluation([[0.8, 0.8, 0.9]]), make_evaluation([[0.7, 0.8, 0.8]])


def test_every_fold_is_a_dot():
    ax = pk.plotting.plot_evaluation({"PK": FIRST, "LABELS": SECOND})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["PK", "LABELS"]
    dots = [
        np.asarray(collection.get_offsets()) for collection in ax.collections if len(collection.get_offsets())
    ]
    drawn = [sorted(d[:, 1].tolist()) for d in dots if len(d) == 3]
    np.testing.assert_allclose(drawn, [[80, 80, 90], [70, 80, 80]])
    assert len({tuple(row) for row in dots[0].tolist()}) == 3  # equal values stand side by side


def test_only_equal_folds_are_connected():
    connected = pk.plotting.plot_evaluation([FIRST, SECOND])
    apart = pk.plotting.plot_evaluation([FIRST, make_evaluation([[0.7, 0.8, 0.8]], split="b")])
    assert len(connected.lines) - len(apart.lines) == 3


def test_one_evaluation_and_other_metrics():
    ax = pk.plotting.plot_evaluation(make_evaluation([[0.1, 0.2]], metric="rmse"))
    assert ax.get_ylabel() == "rmse"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["PK"]


def test_axes_of_the_user():
    _, ax = matplotlib.pyplot.subplots()
    assert pk.plotting.plot_evaluation(FIRST, ax=ax) is ax


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="results of evaluate"):
        pk.plotting.plot_evaluation([1, 2])
    with pytest.raises(ValueError, match="different metrics"):
        pk.plotting.plot_evaluation([FIRST, make_evaluation([[0.1]], metric="rmse")])
