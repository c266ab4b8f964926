"""The chart and the sentences of the README come from the measured pages."""

from pathlib import Path

import pytest

from reproduction.extra.headline import Headline, draw

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def headline():
    return Headline.read(DOCS)


@pytest.mark.parametrize(("page", "folder"), [("../README.md", "docs/measured"), ("index.md", "measured")])
def test_pages_show_the_sentences(headline, page, folder):
    text = (DOCS / page).read_text(encoding="utf-8")
    for sentence in headline.sentences(folder):
        assert sentence in text


def test_rows_of_the_pages(headline):
    assert {(data, method) for data, method, *_ in headline.seconds} >= {("MUTAG", "WL"), ("ENZYMES", "PK")}
    assert len(headline.leads) == 8
    assert all(40 < best <= latest < 100 for _, best, latest, *_ in headline.leads)
    assert len(headline.nodes) == 9
    assert ("cora", 81.5) in [(name, published) for name, _, published in headline.nodes]
    assert headline.errors["SVM on ECFP"] == 0.671


def test_the_chart_has_all_rows(headline):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = draw(headline)
    assert len(figure.axes[0].get_yticks()) >= 7
    pyplot.close(figure)
