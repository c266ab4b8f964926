"""What the paper prints: published.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Published:
    """One cell of a table of the paper; None where it prints nothing.

    Attributes
    ----------
    accuracy, error : float or None
        Mean and standard error, in per cent.
    seconds : float or None
        Runtime.
    normalized : bool
        Whether the paper says that the normalised kernel was the better one.
    missing : str
        What is printed instead of an accuracy, such as "out of time".
    """

    accuracy: float | None = None
    error: float | None = None
    seconds: float | None = None
    normalized: bool = False
    missing: str = ""
    missing_seconds: str = ""


@cache
def read_package_file(name: str) -> dict[str, Any]:
    """Read a TOML file of this package."""
    return tomllib.loads(files("propkernels.paper").joinpath(name).read_text(encoding="utf-8"))


def published(table: str, row: str, column: str) -> Published:
    """Return what the paper prints in a cell; an empty one where it has no such cell.

    Examples
    --------
    >>> published("labelled", "PK", "NCI1").accuracy
    84.5
    """
    rows = read_package_file("published.toml")["tables"].get(table, {}).get("rows", {})
    return Published(**rows.get(row, {}).get(column, {}))


def rows_and_columns(table: str) -> list[tuple[str, str]]:
    """All cells of a table of the paper, row by row."""
    rows = read_package_file("published.toml")["tables"][table]["rows"]
    return [(row, column) for row, cells in rows.items() for column in cells]


def numbers_in_text(figure: str) -> dict[str, float]:
    """Numbers that the text gives for a figure."""
    numbers: dict[str, float] = read_package_file("published.toml")["text"][figure]
    return numbers


def explanation(table: str, row: str, column: str) -> str:
    """Why a cell is worse than the paper's, where that was looked into; ``explanations.toml``."""
    found = read_package_file("explanations.toml").get(table, {})
    texts = (found.get(row, {}).get(column), found.get(row, {}).get("*"), found.get("*", {}).get(column))
    return next((text for text in texts if text), "")
