"""The chart and the sentences of the README come from the measured pages."""

from pathlib import Path

import pytest

from reproduction.extra.headline import Headline

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def headline():
    return Headline.read(DOCS)


@pytest.mark.parametrize(("page", "folder"), [("../README.md", "docs/measured"), ("index.md", "measured")])
def test_pages_show_the_sentences(headline, page, folder):
    text = (DOCS / page).read_text(encoding="utf-8")
    for sentence in headline.sentences(folder):
        assert sentence in text
