"""The result of an evaluation, as text and as a page."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

import propkernels as pk
from propkernels.models.evaluation_result import Choice, Evaluation, folds_svg, paired_test, write_evaluations


def make_evaluation(scores, choices=None):
    scores = np.array(scores, dtype=float)
    if choices is None:
        choices = tuple(tuple(Choice(f % 3, 10.0) for f in range(scores.shape[1])) for _ in scores)
    return Evaluation("MUTAG", "PropagationKernel", scores, choices, (0.1,) * len(scores), 1.0)


def test_mean_and_error_over_folds():
    result = make_evaluation([[0.5, 0.7, 0.9]])
    assert result.mean == pytest.approx(0.7)
    assert result.standard_error == pytest.approx(0.2 / np.sqrt(3))


def test_error_over_repeats():
    result = make_evaluation([[0.5, 0.7], [0.7, 0.9]])
    assert result.mean == pytest.approx(0.7)
    assert result.standard_error == pytest.approx(np.std([0.6, 0.8], ddof=1) / np.sqrt(2))


def test_one_record_per_fold():
    folds = make_evaluation([[0.5, 0.7], [0.7, 0.9]]).folds
    assert len(folds) == 4
    assert folds[3] == {"repeat": 1, "fold": 1, "accuracy": 0.9, "t_max": 1, "C": 10.0}


def test_choices_in_words():
    result = make_evaluation([[0.5, 0.7, 0.9]])
    assert result.describe_choices("t_max") == "1 (0-2)"
    assert result.describe_choices("C") == "10"


def test_kernel_without_steps_has_no_choice_of_them():
    result = make_evaluation([[0.5, 0.7]], (((Choice(None, 1.0)), Choice(None, 1.0)),))
    assert result.describe_choices("t_max") == "-"
    assert "     0     0    50.0 %      -       1" in str(result)


def test_repr_is_one_line():
    assert repr(make_evaluation([[0.5, 0.7]])) == (
        "Evaluation(PropagationKernel on MUTAG: accuracy 60.0 % +- 10.0, 2 folds)"
    )
    assert "2 x 2 folds" in repr(make_evaluation([[0.5, 0.7], [0.5, 0.7]]))


def test_str_is_a_table():
    lines = str(make_evaluation([[0.5, 1.0]])).splitlines()
    assert lines[2:] == [
        "repeat  fold  accuracy  t_max       C",
        "     0     0    50.0 %      0      10",
        "     0     1   100.0 %      1      10",
    ]
    html = make_evaluation([[0.5, 1.0]])._repr_html_()
    assert all(f">{cell}<" in html for cell in ("repeat", "50.0 %", "100.0 %"))


def test_records_go_into_a_frame():
    result = make_evaluation([[0.5, 0.7], [0.7, 0.9]])
    assert result.records[3] == {"data": "MUTAG", "kernel": "PropagationKernel", **result.folds[3]}
    frame = result.to_frame()
    assert frame.shape == (4, 7)
    assert frame.groupby("kernel")["accuracy"].mean().iloc[0] == pytest.approx(result.mean)


def test_other_metrics_are_not_percentages():
    scores = np.array([[1.5, 2.5]])
    choices = ((Choice(1, 1.0), Choice(None, float("nan"))),)
    result = Evaluation("ZINC", "Model", scores, choices, (0.1,), 1.0, metric="rmse")
    assert repr(result) == "Evaluation(Model on ZINC: rmse 2 +- 0.5, 2 folds)"
    assert str(result).splitlines()[-1] == "     0     1       2.5      -       -"
    assert result.folds[0]["rmse"] == 1.5


def test_different_metrics_are_not_compared():
    first = make_evaluation([[0.5, 0.7]])
    second = Evaluation("MUTAG", "Model", first.scores, first.choices, (0.1,), 1.0, metric="rmse")
    with pytest.raises(ValueError, match="metrics are different: accuracy and rmse"):
        first.compare(second)


RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(0.8, 0.05, 30), RNG.normal(0.78, 0.05, 30)


def test_plain_test_is_scipys():
    reference = ttest_rel(FIRST, SECOND)
    computed = paired_test(FIRST, SECOND, 1 / 9)
    assert (computed.t, computed.p) == pytest.approx((reference.statistic, reference.pvalue))
    assert computed.difference == pytest.approx(np.mean(FIRST - SECOND))
    assert computed.n_folds == 30
    assert paired_test(FIRST[:2], SECOND[:2], 0).p == pytest.approx(ttest_rel(FIRST[:2], SECOND[:2]).pvalue)


def test_corrected_test_widens_the_variance():
    gaps = FIRST - SECOND
    reference = gaps.mean() / np.sqrt((1 / 30 + 1 / 9) * gaps.var(ddof=1))
    computed = paired_test(FIRST, SECOND, 1 / 9)
    assert computed.corrected_t == pytest.approx(reference)
    assert computed.corrected_p == pytest.approx(2 * student.sf(abs(reference), 29))
    assert computed.corrected_p > computed.p


def test_equal_values_are_not_evidence_and_a_constant_gap_is_all():
    assert paired_test(FIRST, FIRST, 0.1).p == paired_test(FIRST, FIRST, 0.1).corrected_p == 1.0
    rounded = FIRST * (1 + 2**-50)  # the same scores, added up in another order
    assert paired_test(rounded, FIRST, 0.1).p == paired_test(FIRST, rounded, 0.1).corrected_p == 1.0
    ones, zeros = np.ones(5), np.zeros(5)
    assert paired_test(ones, zeros, 0.1).p == 0.0
    assert np.isnan(paired_test(ones[:1], zeros[:1], 0.1).p)
    assert paired_test(zeros, ones, 0.1).t == -np.inf


# as a page

DATA = pk.datasets.make_molecules(60, random_state=0)
EVIL = "</script><img src=x onerror=alert(1)>"


def result(**changed):
    found = pk.evaluate(DATA, model=pk.PropagationKernel(t_max=1), cv=3, n_repeats=2, random_state=0)
    return dataclasses.replace(found, **changed)


def test_everything_is_escaped(tmp_path):
    one = result(data=EVIL, classes=(EVIL, "b"), protocol=EVIL, metric=EVIL)
    html = write_evaluations(tmp_path / "page.html", {EVIL: one, "other": result()}, [EVIL]).read_text(
        "utf-8"
    )
    assert "<img" not in html
    assert html.count("&lt;img") > 5


def test_confusions_of_many_classes_are_left_out(tmp_path):
    many = result(classes=tuple(map(str, range(30))), confusion=np.eye(30, dtype=np.int64))
    html = write_evaluations(tmp_path / "page.html", {"PK": many}).read_text("utf-8")
    assert "Confusion" not in html
    html = write_evaluations(tmp_path / "page.html", {"PK": result()}).read_text("utf-8")
    assert "Confusion" in html
    assert "color-mix" in html
    assert "color-mix(in srgb, var(--good)" in html
    assert "color-mix(in srgb, var(--bad)" in html


def test_the_best_has_the_largest_mean(tmp_path):
    worse = result(scores=result().scores / 2)
    html = write_evaluations(tmp_path / "page.html", {"better": result(), "worse": worse}).read_text("utf-8")
    assert "of better, the best" in html
    assert ">2 x 3<" in html
    assert f"<title>{worse.data}: accuracy in cross-validation</title>" in html
    assert f">{worse.seconds:.2f}".rstrip("0") in html


def test_folds_are_dots():
    one = result()
    svg = folds_svg({"a": one, "b": one})
    assert svg.count("<circle") == 2 * one.scores.size
    assert " %</text>" in svg
    assert " %</text>" not in folds_svg({"a": dataclasses.replace(one, metric="r2")})
    flat = dataclasses.replace(one, scores=np.ones((1, 4)))
    assert folds_svg({"a": flat}).count("<circle") == 4
    assert "nan" not in folds_svg({"a": flat})
