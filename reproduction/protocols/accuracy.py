"""Accuracy cells: a recipe on a data set, cross-validated, plain and normalized."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reproduction.engine.cells import Cell, Value, plain_name
from reproduction.engine.data import machine_of
from reproduction.engine.jobs import Context, Job
from reproduction.protocols.nested import (
    FOLDS,
    class_numbers,
    cross_validate,
    folds_of,
    leave_one_out,
    seeds_of,
    unit,
)
from reproduction.protocols.recipes import Recipe

VARIANTS = ("plain", "normalized")


@dataclass(frozen=True)
class Accuracy:
    """One cell of a table of accuracies, in all its repeats.

    Attributes
    ----------
    experiment, row, column : str
    dataset : str
    recipe : Recipe
    costs : tuple of float
        Candidates for C; none: leave-one-out with the nearest neighbor.
    variants : tuple of str
        Which of "plain" and "normalized".
    change : callable, optional
        Makes the graphs of a repeat: ``change(graphs, repeat)``.
    change_name : str
        Says what ``change`` does, for the key of the cell.
    """

    experiment: str
    row: str
    column: str
    dataset: str
    recipe: Recipe
    costs: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)
    variants: tuple[str, ...] = VARIANTS
    change: Callable[[Any, int], Any] | None = None
    change_name: str = ""
    n_folds: int = FOLDS

    def cell(self, repeat: int) -> Cell:
        """Return the cell of one repeat."""
        settings = {
            **self.recipe.describe(),
            "costs": list(self.costs),
            "variants": list(self.variants),
            "folds": self.n_folds,
            "selection": "exact",
        }
        if self.change_name:
            settings["change"] = self.change_name
        return Cell.of(self.experiment, self.row, self.column, repeat, **settings)

    def job(self, repeats: int, skipped: str = "") -> Job:
        """Return the job for so many repeats."""
        cells = tuple(self.cell(repeat) for repeat in range(repeats))
        return Job(cells, self.dataset, self.work, skipped)

    def work(self, data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
        """Compute the kernels, once where that suffices, and cross-validate."""
        target = class_numbers(data.target)
        kernels: tuple[dict[str, Any], float] | None = None
        for cell in cells:
            if kernels is None or self.recipe.is_random or self.change is not None:
                kernels = self.kernels(data.graphs, cell.repeat, context)
            matrices, seconds = kernels
            value: Value = {
                variant: self.judge(matrices, target, variant, cell.repeat, context)
                for variant in self.variants
            }
            yield cell, {**value, "kernel_seconds": seconds, "machine": machine_of(context.n_jobs)}

    def kernels(self, graphs: Any, repeat: int, context: Context) -> tuple[dict[str, Any], float]:
        """Return the candidate matrices of a repeat, and the seconds of one kernel."""
        if self.change is not None:
            graphs = self.change(graphs, repeat)
        name = plain_name(f"{self.dataset} {self.row}")
        return self.recipe.compute(graphs, seeds_of(repeat).kernel, context, name)

    def judge(
        self, matrices: dict[str, Any], target: Any, variant: str, repeat: int, context: Context
    ) -> dict[str, Any]:
        """Accuracy of the plain or the normalized kernels."""
        if variant == "normalized":
            matrices = {name: unit(matrix) for name, matrix in matrices.items()}
        if not self.costs:
            return leave_one_out(matrices, target)
        folds = folds_of(target, repeat, self.n_folds)
        return cross_validate(matrices, target, folds, self.costs, context.n_jobs)


def settings_of(cell: Cell) -> dict[str, Any]:
    """Settings of a cell, as a dictionary."""
    settings: dict[str, Any] = json.loads(cell.settings)
    return settings
