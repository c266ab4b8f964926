"""``propkernels evaluate``: cross-validated accuracy of PK beside LABELS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import build_scheme, compile_loops, label_source, open_dataset
from propkernels.cli.console import check_output, new_table, print_text, progress_bar, seconds, stdout
from propkernels.utils.files import atomic_write

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.learn import Evaluation

NOTE = """
LABELS is the kernel at t_max = 0, which ignores the edges. t_max and C: median
over the folds, and range. kernel: time per repeat; total: with all SVMs."""
LEAVE_ONE_OUT = "loo"


def _check_folds(folds: str) -> str:
    if folds != LEAVE_ONE_OUT and not (folds.isdecimal() and int(folds) >= 2):
        raise typer.BadParameter(f'a whole number from 2 on, or "loo" to leave one out; got {folds!r}')
    return folds


def evaluate(
    name: arguments.Name,
    t_max: arguments.TMax = 10,
    cost: Annotated[
        float | None,
        typer.Option("--C", metavar="X", help="Fixed cost C, with t_max fixed too: nothing is chosen."),
    ] = None,
    paper_costs: Annotated[
        bool,
        typer.Option("--paper-costs", help="Choose C among the paper's values, for the kernel as it is."),
    ] = False,
    folds: Annotated[
        str,
        typer.Option(
            "--folds", callback=_check_folds, metavar="N|loo", help="Number of folds, or leave one out."
        ),
    ] = "10",
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Repeats with new folds and hashes.")
    ] = 1,
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups",
            metavar="FILE",
            help="File with the group of each graph, one per line: groups stay together.",
        ),
    ] = None,
    selection: Annotated[
        arguments.Selection,
        typer.Option("--selection", help="How thoroughly candidates are compared."),
    ] = arguments.Selection.auto,
    normalize: arguments.Normalize = False,
    propagation: arguments.SchemeOption = "auto",
    laziness: arguments.Laziness = None,
    normalization: arguments.NormalizationOption = None,
    labels: arguments.LabelsOption = arguments.Labels.auto,
    metric: arguments.MetricOption = arguments.Metric.tv,
    bin_width: arguments.BinWidth = 1e-5,
    n_hashes: arguments.NHashes = 1,
    base_kernel: arguments.BaseKernelOption = arguments.BaseKernel.linear,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write one line per fold to this CSV file."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw the folds to this file.")
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    smiles_column: arguments.SmilesColumn = None,
    target_column: arguments.TargetColumn = None,
) -> None:
    """Accuracy on a data set, by cross-validation.

    The kernel (PK) stands beside LABELS, its t_max = 0, which ignores the edges. In every fold t_max (0 up
    to --t-max) and C are chosen on the training part, by 5-fold cross-validation.
    """
    if cost is not None and paper_costs:
        raise typer.BadParameter("--C fixes the cost, and --paper-costs has it chosen: use one of them")
    for file in (output, plot):
        if file is not None:
            check_output(file, True, "folds.csv")
    scheme = build_scheme(propagation, laziness, normalization)
    from propkernels import PropagationKernel

    kernel = PropagationKernel(
        propagation=scheme,
        labels=label_source(labels),
        t_max=t_max,
        metric=metric.value,
        bin_width=bin_width,
        n_hashes=n_hashes,
        base_kernel=base_kernel.value,
        normalize=normalize,
        n_jobs=jobs,
    )
    protocol: dict[str, Any] = {
        "n_folds": folds if folds == LEAVE_ONE_OUT else int(folds),
        "repeats": repeats,
        "groups": None if groups is None else groups.read_text().split(),
        "selection": selection.value,
        "random_state": seed,
        "n_jobs": jobs,
    }
    if cost is not None or paper_costs:
        protocol["C"] = "paper" if paper_costs else cost
    data = open_dataset(name, smiles_column=smiles_column, target_column=target_column)
    results = run_both(data, kernel, protocol, t_max if cost is not None else None)
    print_table(results)
    if output is not None:
        write_records(results, output)
    if plot is not None:
        draw(results, plot)


def run_both(
    data: Dataset, kernel: Any, protocol: dict[str, Any], t_max: int | None
) -> dict[str, Evaluation]:
    """Evaluate LABELS and the kernel on the same folds."""
    from propkernels.learn import evaluate as cross_validate

    print_text(repr(data))
    compile_loops()
    results = {}
    for row, candidates in {"LABELS": 0, "PK": t_max}.items():
        with progress_bar(f"{row} on {data.name}") as on_progress:
            results[row] = cross_validate(kernel, data, t_max=candidates, progress=on_progress, **protocol)
    return results


def print_table(results: dict[str, Evaluation]) -> None:
    """Print one row per kernel, and whether they differ significantly."""
    first = results["PK"]
    numbers = [first.metric, "std. error", "t_max", "C", "kernel", "total"]
    table = new_table(["method"], numbers)
    for row, result in results.items():
        values = [result.format_score(value) for value in (result.mean, result.standard_error)]
        table.add_row(row, *values, *choices_and_times(result))
    repeats, n_folds = first.scores.shape
    times = f"{n_folds} folds" if repeats == 1 else f"{repeats} x {n_folds} folds"
    print_text(f"{first.metric.capitalize()} in cross-validation, {times} ({first.protocol})\n")
    stdout().print(table)
    print_text(describe_difference(results))
    print_text(NOTE)


def describe_difference(results: dict[str, Evaluation]) -> str:
    """Say how sure the difference is."""
    test = results["PK"].compare(results["LABELS"])
    gap = results["PK"].format_score(test.difference).removesuffix(" %")
    sign = "" if test.difference < 0 else "+"
    chances = f"corrected: p = {test.corrected_p:.2g}, plain: {test.p:.2g}"
    return f"\nPK less LABELS: {sign}{gap}; paired t-test, {chances}"


def choices_and_times(result: Evaluation) -> list[str]:
    """Return the last columns of a row."""
    kernel_seconds = sum(result.kernel_seconds) / len(result.kernel_seconds)
    chosen = [result.describe_choices(name) for name in ("t_max", "C")]
    return [*chosen, seconds(kernel_seconds), seconds(result.seconds)]


def write_records(results: dict[str, Evaluation], path: Path) -> None:
    """Write one line per method and fold."""
    import csv

    rows = [{**record, "kernel": row} for row, result in results.items() for record in result.records]
    with atomic_write(path, text=True) as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def draw(results: dict[str, Evaluation], path: Path) -> None:
    """Draw the folds' values."""
    from propkernels.plotting import plot_evaluation

    ax = plot_evaluation(results)
    with atomic_write(path) as stream:
        ax.figure.savefig(stream, format=path.suffix[1:].lower() or "png")
