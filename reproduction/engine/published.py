"""What the paper prints, and how a measured accuracy compares with it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Published:
    """One cell of a table of the paper; None where it prints nothing.

    Attributes
    ----------
    accuracy, error : float or None
        Mean and standard error, in percent.
    seconds : float or None
        Runtime.
    normalized : bool
        Whether the paper says that the normalized kernel was the better one.
    bold : bool
        Whether the paper prints it bold: significantly better than the second best method.
    missing : str
        What is printed instead of an accuracy, such as "out of time".
    """

    accuracy: float | None = None
    error: float | None = None
    seconds: float | None = None
    normalized: bool = False
    bold: bool = False
    missing: str = ""
    missing_seconds: str = ""

    @property
    def text(self) -> str:
        """The accuracy as it is printed, or what is printed instead."""
        if self.accuracy is None:
            return self.missing or "-"
        return f"{self.accuracy:.1f}" if self.accuracy == round(self.accuracy, 1) else f"{self.accuracy:g}"


@cache
def read_package_file(name: str) -> dict[str, Any]:
    """Read a TOML file of this package."""
    return tomllib.loads(files("reproduction.data").joinpath(name).read_text(encoding="utf-8"))


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


PUBLISHED_REPEATS = 10
ROUNDING = 0.05
FEW_REPEATS = 3
MATCHES, BETTER, WORSE = "matches", "better", "worse"


@dataclass(frozen=True)
class Measured:
    """An accuracy in percent, its standard error, and the number of values behind the error."""

    mean: float
    error: float
    n_values: int


@dataclass(frozen=True)
class Comparison:
    """Ours vs. the paper's, in percent.

    Attributes
    ----------
    difference : float
        Ours less the paper's.
    error : float
        Standard error of the difference.
    interval : (float, float)
        95 % interval of the difference, by Welch's t-distribution.
    verdict : {"matches", "better", "worse"}
        "matches": within two standard errors; the last printed digit of the paper is given half a unit.
    """

    difference: float
    error: float
    interval: tuple[float, float]
    verdict: str


def summarize(repeats: Sequence[Sequence[float]]) -> Measured:
    """Mean over the repeats, and its standard error.

    The error is taken over the repeats' means; with fewer than three repeats, which say too little about
    their spread, over all folds. One fold alone has no error.

    Parameters
    ----------
    repeats : sequence of sequences
        Accuracies of the folds of each repeat.

    Examples
    --------
    >>> summarize([[80.0, 90.0], [84.0, 86.0], [85.0, 88.0]])
    Measured(mean=85.5, error=0.5, n_values=3)
    """
    means = [float(np.mean(folds)) for folds in repeats]
    values = means if len(means) >= FEW_REPEATS else [value for folds in repeats for value in folds]
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return Measured(float(np.mean(means)), error, len(values))


def compare(ours: Measured, accuracy: float, error: float) -> Comparison:
    """Compare with a published mean of ten repeats and its standard error.

    Examples
    --------
    >>> compare(Measured(85.0, 0.3, 10), 84.5, 0.6).verdict
    'matches'
    >>> compare(Measured(82.0, 0.3, 10), 84.5, 0.6).verdict
    'worse'
    """
    from scipy.stats import t

    difference = ours.mean - accuracy
    own = 0.0 if np.isnan(ours.error) else ours.error
    both = float(np.hypot(own, error))
    verdict = MATCHES
    if abs(difference) > 2 * both + ROUNDING:
        verdict = BETTER if difference > 0 else WORSE
    parts = own**4 / max(ours.n_values - 1, 1) + error**4 / (PUBLISHED_REPEATS - 1)
    half = 0.0 if both == 0 else float(t.ppf(0.975, both**4 / parts)) * both
    return Comparison(difference, both, (difference - half, difference + half), verdict)
