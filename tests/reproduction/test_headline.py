"""The figure and the sentences of the README come from the measured pages."""

from pathlib import Path

import pytest

from reproduction.extra.headline import Headline, draw

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"


@pytest.fixture(scope="module")
def headline():
    return Headline.read(DOCS)


@pytest.mark.parametrize("page", [README, DOCS / "index.md", DOCS / "measured" / "index.md"], ids=str)
def test_pages_show_the_sentences(headline, page):
    text = page.read_text(encoding="utf-8")
    for sentence in headline.sentences:
        assert sentence in text


def test_rows_of_the_pages(headline):
    assert {(data, method) for data, method, *_ in headline.seconds} >= {("MUTAG", "WL"), ("ENZYMES", "PK")}
    assert len(headline.accuracies) >= 6
    assert all(40 < best < 100 for *_, best in headline.accuracies)
    assert len(headline.nodes) == 9
    assert ("cora", 81.5) in [(name, published) for name, _, published in headline.nodes]


def test_the_figure(headline):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    figure = draw(Headline(headline.seconds, headline.accuracies, [("propkernels", 0.6), ("other", 0.7)]))
    assert [ax.get_title(loc="left")[:5] for ax in figure.axes] == ["Secon", "Accur", "Error"]
    pyplot.close(figure)
