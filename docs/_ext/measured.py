"""Links out of the site lead to the repository, and long tables of measured pages are folded away."""

from __future__ import annotations

import re
from typing import Any

TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
MOST_ROWS = 30  # tables with more are folded
REPOSITORY = "https://github.com/propkernels/propkernels/blob/main/"
OUTSIDE = re.compile(r"\]\(\.\./\.\./([^)]+)\)")


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
    """Mend links out of the site, and fold long tables of measured pages."""
    source[0] = with_links(source[0])
    if name.startswith("measured/"):
        source[0] = folded(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Ask for every page that is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
