"""The pictures of the site that commands draw: what they show is what the package computes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from reproduction.experiments.worked_example import compute
from reproduction.extra import animation, choices


def test_the_animation_is_that_of_the_computation():
    drawn = animation.animation()
    assert animation.PICTURE.read_text(encoding="utf-8") == drawn, (
        "run python -m reproduction.extra.animation"
    )
    words = [element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text")]
    first, second = (step.contribution for step in compute())
    assert f"K = {first} + {second} = {first + second}" in words
    assert "script" not in drawn


@pytest.mark.slow
def test_each_difference_is_seen_by_one_kernel_and_missed_by_another():
    pytest.importorskip("networkx")
    _, columns, values = choices.table()
    assert values.shape[1] == len(columns)
    same = np.isclose(values, 1)
    assert (same | np.isnan(values)).any(axis=0)[1:].all()
    assert (values < 0.99).any(axis=0).all()
    assert (values[~np.isnan(values)] <= 1 + 1e-12).all()
