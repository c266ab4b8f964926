"""Comparison of a measured accuracy with a published one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PUBLISHED_REPEATS = 10
ROUNDING = 0.05
FEW_REPEATS = 3
MATCHES, BETTER, WORSE = "matches", "better", "worse"


@dataclass(frozen=True)
class Measured:
    """An accuracy in per cent, its standard error, and the number of values behind the error."""

    mean: float
    error: float
    n_values: int


@dataclass(frozen=True)
class Comparison:
    """Ours beside the paper's, in per cent.

    Attributes
    ----------
    difference : float
        Ours less the paper's.
    error : float
        Standard error of the difference.
    p_value : float
        Of Welch's t-test, two-sided: how probable such a difference is if both measure the same. Half a unit
        of the paper's last printed digit is taken off the difference.
    verdict : {"matches", "better", "worse"}
        "matches": within two standard errors; the last printed digit of the paper is given half a unit.
    """

    difference: float
    error: float
    p_value: float
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
    difference = ours.mean - accuracy
    own = 0.0 if np.isnan(ours.error) else ours.error
    both = float(np.hypot(own, error))
    verdict = MATCHES
    if abs(difference) > 2 * both + ROUNDING:
        verdict = BETTER if difference > 0 else WORSE
    return Comparison(difference, both, _p_value(difference, own, ours.n_values, error), verdict)


def _p_value(difference: float, own: float, n_values: int, error: float) -> float:
    from scipy.stats import norm, t

    both, beyond = float(np.hypot(own, error)), max(abs(difference) - ROUNDING, 0.0)
    if both == 0 or beyond == 0:
        return 1.0 if beyond == 0 else 0.0
    parts = own**4 / max(n_values - 1, 1) + error**4 / (PUBLISHED_REPEATS - 1)
    score = beyond / both
    return float(2 * (t.sf(score, both**4 / parts) if parts > 0 else norm.sf(score)))
