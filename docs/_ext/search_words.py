"""Words that lead to a page of the site: the search lists this page first."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

WORDS = {
    "measured/index": ("how fast", "speed", "fast", "benchmark"),
    "start/install": ("install", "pip", "requirements"),
    "guide/molecules": ("smiles", "sdf", "rdkit", "fingerprint"),
    "guide/how_sure": ("uncertainty", "interval", "conformal", "confidence", "outlier", "anomaly", "novelty"),
    "guide/explain": ("why", "explanation", "contribution"),
    "guide/similar": ("search", "nearest", "retrieval"),
    "guide/scale": ("cuda",),
    "guide/explorer": ("map", "page"),
    "start/command_line": ("command line", "cli", "terminal"),
}


class SearchWords(SphinxTransform):
    """Add main entries of the index at the top of pages, before the index is collected."""

    default_priority = 800

    def apply(self, **kwargs: Any) -> None:
        """Add the words of the page that is read."""
        words = WORDS.get(self.env.docname, ())
        if not words:
            return
        entries = [("single", word, f"word-{number}", "main", None) for number, word in enumerate(words)]
        target = nodes.target("", "", ids=[f"word-{number}" for number in range(len(words))])
        section = next(iter(self.document.findall(nodes.section)), self.document)
        section.insert(1, [addnodes.index(entries=entries), target])


def always_read(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Return the pages with words: the search forgets entries of pages that a later build does not read."""
    return [name for name in WORDS if name in env.found_docs]


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(SearchWords)
    app.connect("env-get-outdated", always_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
