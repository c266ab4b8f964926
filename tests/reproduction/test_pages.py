"""Measured pages: those in the repository are what their records say; each protocol in miniature."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from reproduction.__main__ import PAGES
from reproduction.experiments import worked_example
from reproduction.extra import animation
from reproduction.molecules import scaffold_splits

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(5))
def test_scaffolds_are_split_by_the_rule_of_ogb(seed):
    groups = np.random.default_rng(seed).zipf(1.6, size=200) % 60
    members = [np.flatnonzero(groups == group).tolist() for group in np.unique(groups)]
    train, valid, test = [], [], []
    for one in sorted(members, key=lambda some: (len(some), some[0]), reverse=True):
        if len(train) + len(one) <= 160:
            train += one
        elif len(train) + len(valid) + len(one) <= 180:
            valid += one
        else:
            test += one
    found = scaffold_splits.scaffold_split(groups)
    assert [part.tolist() for part in found] == [sorted(part) for part in (train, valid, test)]


@pytest.mark.parametrize(
    "name", ["defaults", "fair", "novelty", "nodes", "scaffolds", "coverage", "temporal"]
)
def test_the_page_is_what_its_records_say(name, tmp_path, monkeypatch):
    """Records are complete: nothing is measured. After a change of a page's text, write it again."""
    page = importlib.import_module(f"reproduction.{PAGES[name][0]}")
    monkeypatch.setattr("reproduction.extra.records.keep_records", None)
    page.run([], ROOT / "reproduction" / "records", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text() == (ROOT / "docs" / "measured" / f"{name}.md").read_text()


def test_the_animation_is_that_of_the_computation():
    assert animation.PICTURE.read_text(encoding="utf-8") == animation.animation()
    first, second = (step.contribution for step in worked_example.compute())
    assert f"K = {first} + {second} = {first + second}" in animation.animation()
