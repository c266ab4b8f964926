"""Evaluation: how well a kernel classified, fold by fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Choice(NamedTuple):
    """What was chosen for one fold; ``t_max`` is None for a kernel without steps."""

    t_max: int | None
    C: float


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of :func:`evaluate`.

    Attributes
    ----------
    data, kernel : str
        What was evaluated.
    scores : ndarray of shape (repeats, n_folds)
        Accuracy on each test fold, between 0 and 1.
    choices : tuple of tuples of Choice
        The t_max and C of each fold, ``choices[repeat][fold]``.
    kernel_seconds : tuple of float
        Time for the kernels of each repeat.
    seconds : float
        Time for everything.
    """

    data: str
    kernel: str
    scores: NDArray[np.float64]
    choices: tuple[tuple[Choice, ...], ...]
    kernel_seconds: tuple[float, ...]
    seconds: float

    @property
    def mean(self) -> float:
        """Mean accuracy over all folds and repeats."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean: over the repeats' means; over the folds if there is one repeat."""
        values = self.scores.mean(axis=1) if len(self.scores) > 1 else self.scores[0]
        return float(values.std(ddof=1) / np.sqrt(len(values)))

    @property
    def folds(self) -> list[dict[str, Any]]:
        """One record a fold, ready for ``pandas.DataFrame``."""
        return [
            {"repeat": r, "fold": f, "accuracy": float(self.scores[r, f]), **choice._asdict()}
            for r, choices in enumerate(self.choices)
            for f, choice in enumerate(choices)
        ]

    def describe_choices(self, name: str) -> str:
        """Median and range of the chosen "t_max" or "C", such as "3 (1-5)"."""
        values = [getattr(choice, name) for choices in self.choices for choice in choices]
        if None in values:
            return "-"
        values.sort()
        middle = f"{values[len(values) // 2]:g}"
        return middle if values[0] == values[-1] else f"{middle} ({values[0]:g}-{values[-1]:g})"

    def __repr__(self) -> str:
        repeats, n_folds = self.scores.shape
        times = f"{n_folds} folds" if repeats == 1 else f"{repeats} x {n_folds} folds"
        accuracy = f"accuracy {100 * self.mean:.1f} % +- {100 * self.standard_error:.1f}"
        return f"Evaluation({self.kernel} on {self.data}: {accuracy}, {times})"

    def __str__(self) -> str:
        head = f"{'repeat':>6}  {'fold':>4}  {'accuracy':>8}  {'t_max':>5}  {'C':>6}"
        return "\n".join([repr(self), "", head, *map(_line, self.folds)])


def _line(fold: dict[str, Any]) -> str:
    step = "-" if fold["t_max"] is None else fold["t_max"]
    numbers = f"{fold['repeat']:>6}  {fold['fold']:>4}  {100 * fold['accuracy']:>6.1f} %"
    return f"{numbers}  {step:>5}  {fold['C']:>6g}"
