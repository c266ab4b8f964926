"""``propkernels demo`` and ``propkernels datasets``: graphs to start with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propkernels.cli.arguments import FormatOption
from propkernels.cli.console import (
    new_table,
    percent,
    print_records,
    print_text,
    seconds,
    spinner,
    stdout,
)
from propkernels.cli.explore_command import print_written

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.models.evaluation_result import Evaluation

T_MAX, FOLDS, SEED = 4, 3, 0
ABOUT = """
FAMILIES are well-known molecules of 14 families; DIGITS are handwritten digits
from scikit-learn, each a grid of 8 x 8 pixels; make_molecules generates graphs
whose two classes have the same atoms but different bonds. LABELS counts node
labels and ignores the edges (t_max = 0); PK spreads labels along the edges
first. In each of 3 folds, t_max and C are chosen on the training part; the
last column shows median and range.

Next steps:
  propkernels demo --html demo.html  a page for the browser: a map and a model
  propkernels datasets               list of data sets by name
  propkernels evaluate MUTAG         a benchmark, downloaded if needed
  propkernels fit MUTAG -o model.pk  a model, for predict and explain
  python -c "import propkernels as pk; help(pk.PropagationClassifier)"
                                     the same in Python, for your graphs"""
NUMBERS = ("graphs", "nodes", "kernel time", "LABELS", "PK", "t_max")


def demo(
    html: Annotated[
        Path | None,
        typer.Option("--output", "-o", "--html", metavar="FILE", help="Write a page to explore instead."),
    ] = None,
) -> None:
    """Classify graphs that need no download, as text or a page."""
    if html is not None:
        write_demo(html)
        return
    table = new_table(["data"], NUMBERS)
    for data in load_all():
        table.add_row(*row(data))
    print_text("Propagation kernels: accuracy in cross-validation\n")
    stdout().print(table)
    print_text(ABOUT)


def datasets(output_format: FormatOption = "table") -> None:
    """List the data sets that can be loaded by name."""
    from propkernels.datasets import list_datasets
    from propkernels.datasets.sources import SUPPORTED

    listing = list_datasets()
    if output_format != "table":
        print_records([asdict(info) for info in listing], output_format)
        return
    print_text(str(listing))
    print_text(f"\nA path can be given instead of a name: {SUPPORTED}.")


def write_demo(path: Path) -> None:
    """Write an explorer page of well-known molecules: a map, a model and editable graphs."""
    from propkernels import explore
    from propkernels.datasets import load

    with spinner("Making the page"):
        explore(load("FAMILIES"), title="Which family does a molecule belong to?", n_jobs=-1).save(path)
    print_written(path)


def load_all() -> list[Dataset]:
    """Return the data sets: molecules, images of scikit-learn, and generated graphs."""
    from propkernels.datasets import load, make_molecules

    return [load("FAMILIES"), load("DIGITS"), make_molecules(500, random_state=SEED)]


def row(data: Dataset) -> list[str]:
    """Return the table row of a data set: LABELS and PK on the same folds."""
    labels, result = (cross_validate(data, t_max) for t_max in (0, T_MAX))
    return [
        data.name,
        f"{len(data.graphs):,}",
        f"{data.graphs.n_nodes:,}",
        seconds(result.kernel_seconds[0]),
        percent(labels.mean),
        percent(result.mean),
        result.describe_choices("t_max"),
    ]


def cross_validate(data: Dataset, t_max: int) -> Evaluation:
    """Cross-validate the propagation kernel with t_max chosen from 0 to a number."""
    from propkernels import PropagationKernel
    from propkernels.models.cross_validation import evaluate

    kernel = PropagationKernel(t_max=t_max, n_jobs=-1)
    return evaluate(data, model=kernel, cv=FOLDS, random_state=SEED, n_jobs=-1)
