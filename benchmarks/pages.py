"""Figures in pages: what stands between two marks of a document is replaced."""

from __future__ import annotations

from benchmarks.process import ROOT


def put(page: str, benchmark: str, text: str) -> None:
    """Write the figures of a benchmark into a page of docs/, between its marks."""
    path = ROOT / "docs" / page
    begin = f"<!-- figures: python -m benchmarks.{benchmark} --write -->"
    end = f"<!-- end of figures of {benchmark} -->"
    head, first, rest = path.read_text().partition(begin)
    _, last, tail = rest.partition(end)
    if not first or not last:
        raise ValueError(f"docs/{page} has no marks for the figures of {benchmark}")
    path.write_text(f"{head}{begin}\n\n{text.strip()}\n\n{end}{tail}")
