"""Evaluations as a page."""

import dataclasses

import numpy as np

import propkernels as pk
from propkernels.models.evaluation_result import folds_svg, write_evaluations

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


def test_folds_are_dots():
    one = result()
    svg = folds_svg({"a": one, "b": one})
    assert svg.count("<circle") == 2 * one.scores.size
    flat = dataclasses.replace(one, scores=np.ones((1, 4)))
    assert folds_svg({"a": flat}).count("<circle") == 4
    assert "nan" not in folds_svg({"a": flat})
