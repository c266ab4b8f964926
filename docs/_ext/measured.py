"""Pages written by commands start with a summary.

``measured/summaries/NAME.md`` goes below the title of ``measured/NAME.md``.
Figures in a summary are counted from the page itself, so that it cannot fall behind: ``{yes}`` and ``{no}``
are rows of its tables that reached or missed their aim, ``{rows}`` both together.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
MOST_ROWS = 30  # tables with more are folded
YES = re.compile(r"^\|.*\| yes \|.*$", re.MULTILINE)
REPOSITORY = "https://github.com/propkernels/propkernels/blob/main/"
OUTSIDE = re.compile(r"\]\(\.\./\.\./([^)]+)\)")
NO = re.compile(r"^\|.*\| no \(.*$", re.MULTILINE)


def counted(summary: str, page: str) -> str:
    """Put the counts of a page into its summary."""
    yes, no = len(YES.findall(page)), len(NO.findall(page))
    return summary.replace("{yes}", str(yes)).replace("{no}", str(no)).replace("{rows}", str(yes + no))


def with_summary(page: str, summary: str) -> str:
    """Return a page with its summary below the title."""
    title, rest = page.split("\n", 1)
    return (
        f"{title}\n\n:::{{admonition}} In short\n:class: tip\n\n{counted(summary, page).strip()}\n:::\n{rest}"
    )


def folded(page: str) -> str:
    """Return a page whose tables of many rows are folded away; without tables in lists and quotations."""
    return TABLE.sub(_fold, page)


def _fold(table: re.Match[str]) -> str:
    rows = table[0].count("\n") - 2
    if rows < MOST_ROWS:
        return table[0]
    return f"::::{{dropdown}} Table of {rows} rows\n{table[0]}::::\n"


def with_links(page: str) -> str:
    """Let links to files outside the site lead to the repository."""
    return OUTSIDE.sub(rf"]({REPOSITORY}\1)", page)


def read(app: Any, name: str, source: list[str]) -> None:
    """Mend links out of the site, fold long tables of measured pages, and add their summaries."""
    source[0] = with_links(source[0])
    folder, _, page = name.rpartition("/")
    if folder != "measured":
        return
    source[0] = folded(source[0])
    summary = Path(app.srcdir) / "measured" / "summaries" / f"{page}.md"
    if summary.exists():
        source[0] = with_summary(source[0], summary.read_text(encoding="utf-8"))


def setup(app: Any) -> dict[str, bool]:
    """Ask for every page that is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
