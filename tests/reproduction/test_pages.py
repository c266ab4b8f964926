"""Measured pages and the README are what their records say; the paper's numbers, and how ours compare."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from reproduction.__main__ import PAGES
from reproduction.engine.published import Measured, compare, published, rows_and_columns, summarize
from reproduction.experiments import worked_example
from reproduction.extra import animation
from reproduction.extra.headline import Headline
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


DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def headline():
    return Headline.read(DOCS)


@pytest.mark.parametrize(("page", "folder"), [("../README.md", "docs/measured"), ("index.md", "measured")])
def test_pages_show_the_sentences(headline, page, folder):
    text = (DOCS / page).read_text(encoding="utf-8")
    for sentence in headline.sentences(folder):
        assert sentence in text


TABLES = ("labelled", "partially_labelled", "attributed", "point_clouds", "grids")


def test_three_repeats_have_the_error_of_their_means_and_fewer_that_of_their_folds():
    assert summarize([[80.0, 90.0], [70.0, 90.0], [60.0, 100.0]]) == Measured(
        pytest.approx(np.mean([85, 80, 80])), pytest.approx(np.std([85, 80, 80], ddof=1) / np.sqrt(3)), 3
    )
    fewer = summarize([[80.0, 90.0, 70.0], [90.0, 90.0, 60.0]])
    assert fewer.error == pytest.approx(np.std([80, 90, 70, 90, 90, 60], ddof=1) / np.sqrt(6))
    assert np.isnan(summarize([[50.0]]).error)


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(84.5, "matches"), (85.5, "matches"), (83.5, "matches"), (85.6, "better"), (83.4, "worse")],
)
def test_verdicts_are_two_standard_errors_wide(mean, verdict):
    """The errors 0.3 and 0.4 make 0.5; the printed value may be off by 0.05."""
    assert compare(Measured(mean, 0.3, 10), 84.5, 0.4).verdict == verdict


# read by eye in the paper's tables


def test_every_cell_has_an_accuracy_or_says_why_not():
    cells = {
        (table, *place): published(table, *place) for table in TABLES for place in rows_and_columns(table)
    }
    for found in cells.values():
        assert (found.accuracy is None) == bool(found.missing) == (found.error is None)
    assert sum(found.bold for found in cells.values()) == 2 + 4 + 3 + 1 + 3
    assert cells["attributed", "P2K labels+attr", "PROTEINS_full"].bold
    assert cells["attributed", "PK labels+attr", "BZR"].normalized
    assert not cells["attributed", "PK labels", "BZR"].normalized
