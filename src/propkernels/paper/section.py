"""Section: a table or a figure of the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """A table, and perhaps pictures.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the columns.
    rows : list of tuple of str
        Cells as they are shown.
    notes : list of str
        Sentences below the table.
    figures : dict
        Name of a file (without suffix) to a function that draws into a matplotlib figure.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
