"""What rows of the tables reach on their own folds with parameters fixed, not chosen on training parts.

Where a row of docs/measured/results.md is behind the paper, this tells what choosing costs, and what is out
of the kernel's reach::

    python -m reproduction.extra.fixed_parameters labelled SP MUTAG
    python -m reproduction.extra.fixed_parameters attributed "PK labels" DHFR
    python -m reproduction.extra.fixed_parameters attributed "SP labels" DHFR
    python -m reproduction.extra.fixed_parameters grids PK BRODATZ-O-R-S-RS --costs 100 1000 10000

Kernels and folds are those of ``python -m reproduction``; best first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from reproduction.engine.cells import Store
from reproduction.engine.data import load_source
from reproduction.engine.jobs import Context
from reproduction.experiments import attributed, grids, labelled
from reproduction.protocols.nested import Fold, class_numbers, folds_of, mistakes, unit

TABLES = {"labelled": labelled, "attributed": attributed}
SHOWN = 8
Repeat = tuple[dict[str, Any], Any, list[Fold]]  # kernels, classes and folds


def table_row(table: Any, row: str, data: Any, repeats: int, context: Context) -> Iterator[Repeat]:
    """Yield each repeat of a row of graphs."""
    task, target = table.task(row, data.name), class_numbers(data.target)
    for repeat in range(repeats):
        matrices, _ = task.kernels(data.graphs, repeat, context)
        kernels = {f"plain {name}": matrix for name, matrix in matrices.items()}
        kernels |= {f"normalized {name}": unit(matrix) for name, matrix in matrices.items()}
        yield kernels, target, folds_of(target, repeat)


def grid_row(data: Any, repeats: int, context: Context) -> Iterator[Repeat]:
    """Yield each repeat of PK on pictures."""
    pictures = grids.prepare(data)
    for repeat in range(repeats):
        matrices, _ = grids.propagation_kernels(pictures, repeat, context)
        yield matrices, pictures.target, folds_of(pictures.target, repeat, groups=pictures.groups)


def accuracies(
    kernels: dict[str, Any], target: Any, folds: list[Fold], costs: list[float]
) -> dict[tuple[str, float], float]:
    """Accuracy in percent of every kernel with every C."""
    found = {}
    for name, cost in product(kernels, costs):
        shares = [mistakes(kernels[name], target, f.train, f.test, cost) / len(f.test) for f in folds]
        found[name, cost] = 100 * (1 - float(np.mean(shares)))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.fixed_parameters", description=__doc__.split("\n")[0]
    )
    parser.add_argument("table", choices=[*TABLES, "grids"])
    parser.add_argument("row")
    parser.add_argument("dataset")
    parser.add_argument("--costs", nargs="+", type=float, default=[10.0, 100.0, 1000.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    if options.table == "grids" and options.row != "PK":
        parser.error("of grids, only the row PK can be looked at")
    data = load_source(options.dataset)
    with TemporaryDirectory() as folder:
        context = Context(Store(Path(folder)), -1)
        if options.table == "grids":
            rows = grid_row(data, options.repeats, context)
        else:
            rows = table_row(TABLES[options.table], options.row, data, options.repeats, context)
        found = [accuracies(*each, options.costs) for each in rows]
    means = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    print("| kernel | C | accuracy |\n|---|---|---|")
    for (name, cost), mean in sorted(means.items(), key=lambda item: -item[1])[:SHOWN]:
        print(f"| {name} | {cost:g} | {mean:.1f} |")


if __name__ == "__main__":
    main()
