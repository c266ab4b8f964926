"""Accuracy cells: a recipe on a data set, cross-validated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reproduction.engine.cells import Cell, Value, plain_name
from reproduction.engine.jobs import Context, Job
from reproduction.protocols.nested import (
    COST_FOLDS,
    COSTS,
    FOLDS,
    KERNEL_FOLDS,
    class_numbers,
    cross_validate,
    folds_of,
    leave_one_out,
    seeds_of,
    unit,
)
from reproduction.protocols.recipes import Recipe

VARIANTS = ("plain", "normalized")
REPEATS = 10
SCALED_REPEATS, SCALED_GRAPHS = 1, 1200  # so many repeats, of data sets up to this size, also have our C


@dataclass(frozen=True)
class Accuracy:
    """One cell of a table of accuracies, in all its repeats.

    Attributes
    ----------
    experiment, row, column : str
    dataset : str
    recipe : Recipe
    variants : tuple of str
        Which of "plain" and "normalized".
    change : callable, optional
        Makes the graphs of a repeat: ``change(graphs, repeat)``.
    change_name : str
        Says what ``change`` does, for the key of the cell.
    is_leave_one_out : bool
        Leave-one-out with the nearest neighbor, instead of a C-SVM.
    """

    experiment: str
    row: str
    column: str
    dataset: str
    recipe: Recipe
    variants: tuple[str, ...] = VARIANTS
    change: Callable[[Any, int], Any] | None = None
    change_name: str = ""
    is_leave_one_out: bool = False

    def cell(self, repeat: int) -> Cell:
        """Return the cell of one repeat."""
        protocol: dict[str, Any] = {"folds": [FOLDS, KERNEL_FOLDS, COST_FOLDS], "C": COSTS["paper"]}
        if self.is_leave_one_out:
            protocol = {"folds": "leave-one-out, nearest neighbor"}
        settings = {**self.recipe.describe(), "variants": list(self.variants), **protocol}
        if self.change_name:
            settings["change"] = self.change_name
        return Cell.of(self.experiment, self.row, self.column, repeat, **settings)

    def job(self, repeats: int) -> Job:
        """Return the job for so many repeats."""
        return Job(tuple(self.cell(repeat) for repeat in range(repeats)), self.dataset, self.work)

    def work(self, data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
        """Compute the kernels, once where that suffices, and cross-validate."""
        target = class_numbers(data.target)
        kernels: tuple[dict[str, Any], float] | None = None
        for cell in cells:
            if kernels is None or self.recipe.is_random or self.change is not None:
                graphs = data.graphs if self.change is None else self.change(data.graphs, cell.repeat)
                name = plain_name(f"{self.dataset} {self.row}")
                kernels = None  # before the next ones, for the sake of memory
                kernels = self.recipe.compute(
                    graphs,
                    seeds_of(cell.repeat).kernel,
                    context.n_jobs,
                    context.store.folder / "kernels",
                    name,
                )
            matrices, seconds = kernels
            value = {v: self.judge(matrices, target, v, cell.repeat, context) for v in self.variants}
            yield cell, {**value, "kernel_seconds": float(f"{seconds:.3g}")}

    def judge(
        self, matrices: dict[str, Any], target: Any, variant: str, repeat: int, context: Context
    ) -> dict[str, Any]:
        """Accuracies of the plain or the normalized kernels, by grid of C."""
        if self.is_leave_one_out:
            return {"paper": leave_one_out({name: unit(kernel) for name, kernel in matrices.items()}, target)}
        is_scaled = repeat < SCALED_REPEATS and len(target) <= SCALED_GRAPHS
        grids = ("paper", "scaled") if is_scaled else ("paper",)
        return cross_validate(matrices, target, folds_of(target, repeat), variant, grids, context.n_jobs)
