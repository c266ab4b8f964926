"""The two tasks: what a target is, which machines serve it, and what counts as a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.machines.decisions import DecisionLayout
from propkernels.learn.machines.gaussian_process import ProcessClassification, ProcessRegression
from propkernels.learn.machines.linear import LinearClassification, LinearRegression
from propkernels.learn.machines.svm import (
    Machine,
    MachineMaker,
    SupportVectorClassification,
    SupportVectorRegression,
)

Matrix = NDArray[np.float64]


class Task(Protocol):
    """What a machine is for."""

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """Machines to try, each with its epsilon, if it has one."""

    def is_constant(self, target: NDArray[Any]) -> bool:
        """Whether there is nothing to learn from these graphs."""

    def predictions(self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[Any]) -> Any:
        """Predict; ``target`` is what the machine learned from."""

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """Loss of each prediction."""


class Classification:
    """Classes 0, 1, ...; the loss is 1 for a wrong class."""

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """One machine; there is no epsilon."""
        kinds: dict[str, MachineMaker] = {
            "kernel": SupportVectorClassification(),
            "linear": LinearClassification(),
            "gp": ProcessClassification(),
        }
        return [(None, kinds[solver])]

    def is_constant(self, target: NDArray[np.int64]) -> bool:
        """Whether there is only one class."""
        return bool((target == target[0]).all())

    def predictions(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Class of each row, among those that were learned from."""
        classes = np.unique(target)
        found = DecisionLayout(len(classes), maker.pairwise).predictions(machine.decisions(rows))
        return np.asarray(classes[found])

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """1 where the class is wrong."""
        return (predictions != truth).astype(np.float64)


class Regression:
    """Numbers, standardised; the loss is the squared error."""

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """One machine for each epsilon; a Gaussian process has none."""
        if solver == "gp":
            return [(None, ProcessRegression())]
        kind = SupportVectorRegression if solver == "kernel" else LinearRegression
        return [(epsilon, kind(epsilon)) for epsilon in epsilons]

    def is_constant(self, target: NDArray[np.float64]) -> bool:
        """Whether all values are the same."""
        return bool((target == target[0]).all())

    def predictions(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Value of each row."""
        return machine.decisions(rows)[:, 0]

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """Squared errors."""
        return np.asarray((predictions - truth) ** 2, dtype=np.float64)
