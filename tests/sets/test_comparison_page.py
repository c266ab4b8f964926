"""Comparisons as HTML: drawings, names that are escaped, and a sentence on the p-value."""

from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.sets.comparison_page import fragment, page

DATA = pk.datasets.make_molecules(60, random_state=1)
A, B = DATA.graphs[:25], DATA.graphs[25:]


@pytest.fixture(scope="module")
def found():
    return pk.compare(A, B, n_permutations=19, random_state=0)


def test_a_page_draws_the_surroundings(found, tmp_path):
    found.save(tmp_path / "report.html", names=("old", "<new>"), n=6)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "old and &lt;new&gt;" in text
    assert text.count("<figcaption>") == 1 + 6
    assert "<new>" not in text
    assert "<svg" in found._repr_html_()


def test_a_page_of_grids_has_no_drawings(tmp_path):
    grids = pk.GridDatabase([np.random.default_rng(i).integers(0, 3, (4, 4)) for i in range(12)])
    found = pk.compare(grids[:6], grids[6:], n_permutations=9)
    found.save(tmp_path / "report.html")
    assert "not drawn" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("p_value", "sentence"),
    [(0.05, "old and new are not samples of one distribution (p = 0.05)"), (0.06, "Nothing speaks against")],
)
def test_the_sentence_follows_the_p_value(found, p_value, sentence):
    assert sentence in page(replace(found, p_value=p_value), ("old", "new"), 2)


def test_a_page_lists_as_many_surroundings_as_asked_for(found):
    for n in (0, 3):
        text = page(found, ("old", "new"), n)
        assert text.count("<figcaption>") == 1 + n
    assert "MMD²" in text


def test_a_page_without_exchanges_has_no_histogram(found):
    assert "after random exchanges" in page(found, ("old", "new"), 1)
    alone = page(replace(found, permuted=np.empty(0)), ("old", "new"), 1)
    assert "MMD² after random exchanges" not in alone


def test_fragments_for_notebooks_have_a_table_and_drawings(found):
    text = fragment(found)
    assert text.count("<svg") == 6
    assert "<table" in text
    assert "contribution" in text
