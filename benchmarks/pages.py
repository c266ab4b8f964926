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


def replace_section(section: str, begin: str, end: str) -> None:
    """Put a section with its marks into docs/measured/benchmarks.md: over the old one, or at the end."""
    path = ROOT / "docs" / "measured" / "benchmarks.md"
    head, first, rest = path.read_text(encoding="utf-8").partition(begin)
    tail = rest.partition(end)[2] if first else ""
    parts = [part.strip("\n") for part in (head, section, tail)]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def section_between(begin: str, end: str) -> str:
    """Return what stands between two marks of docs/measured/benchmarks.md; nothing if they are not there."""
    text = (ROOT / "docs" / "measured" / "benchmarks.md").read_text(encoding="utf-8")
    return text.partition(begin)[2].partition(end)[0]
