"""``propkernels evaluate``: cross-validation of the default model, LABELS, PK and WL."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from propkernels._utils.safe_files import atomic_write
from propkernels.cli import arguments
from propkernels.cli.arguments import (
    KERNELS,
    Input,
    KernelName,
    build_kernel,
    known_target,
    reads_data,
    with_edges,
)
from propkernels.cli.console import (
    check_output,
    print_error,
    print_text,
    results_stream,
    seconds,
    write_csv,
)
from propkernels.cli.explain_command import SUFFIXES

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.models.evaluation_result import Evaluation

NOTE = """
default: the model of 'propkernels fit', which also chooses its kernel. (LABELS
is PK at t_max = 0, which ignores the edges.) WL: Weisfeiler-Lehman. t_max
and C: median and range over the folds, chosen on the training part of each
fold. kernel: time per repeat; total: with all models."""
DEFAULT, LABELS, PK, WL = "default", "LABELS", "PK", "WL"
WORDS = {  # names of the rows on the page
    DEFAULT: "default model",
    LABELS: "label counts",
    PK: "propagation kernel",
    WL: "Weisfeiler-Lehman",
}
PAGE_NOTE = (
    "The default model also chooses its kernel. Label counts ignore the edges. t_max and C are medians and "
    "ranges over the folds, chosen on the training part of each fold."
)
ROWS = {"propagation": PK, "wl": WL}  # names of rows by those of kernels
METHOD, WIDTHS = 17, (9, 11, 9, 16, 8, 10)  # widths of columns; a line has 80 letters


def _check_kernels(names: list[str] | None) -> list[str] | None:
    known = get_args(KernelName)  # lists of Literals are not supported by typer
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, known))}.")
    return names


@reads_data
def evaluate(
    name: arguments.Name,
    t_max: arguments.TMax = 10,
    cost: Annotated[
        float | None,
        typer.Option("--C", metavar="X", help="Fixed cost C, with fixed t_max: no model selection."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds", min=2, metavar="N", help="Number of folds (default 10, fewer for small classes)."
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, metavar="N", help="Number of repeats, with new folds and hashes."),
    ] = 1,
    kernels: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            callback=_check_kernels,
            metavar="KERNEL",
            help=f"Evaluate only LABELS and this kernel, repeatable: {KERNELS}.",
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            "--html",
            metavar="FILE",
            help="Also write folds.csv (one line per fold), page.html or an image; may be repeated.",
        ),
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Estimate accuracy on a data set by cross-validation.

    Compares the default model of 'propkernels fit' with LABELS (counts of node labels), PK as in the paper,
    and WL. In every fold, t_max (0 to --t-max), C and other parameters are chosen on the training part alone.
    With --C, the default model is left out, because it chooses C from its own grid.
    """
    for file in output or []:
        check_output(file, True, "page.html")
        if file.suffix.lower() not in (".csv", ".html", *(f".{suffix}" for suffix in SUFFIXES)):
            raise ValueError(f"{file} has an unsupported suffix: use .csv, .html, .png, .svg or .pdf")
    protocol: dict[str, Any] = {
        "cv": folds,
        "n_repeats": repeats,
        "random_state": seed,
        "n_jobs": jobs,
    }
    data = known_target(source_options.open(name, target_required=True, n_jobs=jobs))
    from propkernels._utils.cells import are_classes
    from propkernels.models.cross_validation import evaluate as cross_validate

    if data.target.dtype.kind in "iu" and not are_classes(data.target):
        data = replace(data, target=data.target.astype(float))  # too many to be classes
    print_text(repr(data).removeprefix("Dataset(").removesuffix(")"))
    rows = build_rows(data, kernels, t_max, cost, jobs)
    results: dict[str, Evaluation] = {}
    for row in sorted(rows, key=lambda row: row == DEFAULT):  # last: wrong options are found before it
        given = with_edges(data) if row not in (DEFAULT, LABELS, PK) else data
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            result = results[row] = cross_validate(given, model=rows[row], **protocol)
        if row == LABELS:  # the first; others would warn of the same
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                print_error(f"propkernels: {text}")
            n_repeats, n_folds = result.scores.shape
            times = f"{n_folds} folds" if n_repeats == 1 else f"{n_repeats} x {n_folds} folds"
            print_text(f"{result.metric.capitalize()} in cross-validation, {times} ({result.protocol})\n")
            print_line("method", [result.metric, "std. error", "t_max", "C", "kernel", "total"])
        values = [result.format_score(value) for value in (result.mean, result.standard_error)]
        chosen = [result.describe_choices(name) for name in ("t_max", "C")]
        kernel_seconds = sum(result.kernel_seconds) / len(result.kernel_seconds)
        took = ["-" if row == DEFAULT else seconds(kernel_seconds), seconds(result.seconds)]
        print_line(row, [*values, *chosen, *took])
    results = {row: results[row] for row in rows}
    print_text("")
    for row in [row for row in results if row != LABELS]:
        print_text(describe_difference(results, row))
    print_text(NOTE)
    for file in output or []:
        write(results, file)


def build_rows(
    data: Dataset, kernels: list[str] | None, t_max: int, cost: float | None, jobs: int
) -> dict[str, Any]:
    """Return the model of each row of the table."""
    from propkernels._utils.cells import are_classes
    from propkernels.models.classifier import PropagationClassifier
    from propkernels.models.regressor import PropagationRegressor

    model = PropagationClassifier if are_classes(data.target) else PropagationRegressor
    common: dict[str, Any] = {"n_jobs": jobs, "progress": False} | ({} if cost is None else {"C": cost})
    rows: dict[str, Any] = {LABELS: model(kernel=build_kernel("propagation", 0, None, jobs), **common)}
    default = ["auto"] if cost is None else []
    for name in kernels or [*default, "propagation", "wl"]:
        if name == "auto":
            rows[DEFAULT] = model(**common)
        else:
            steps = None if cost is None else t_max
            kernel = build_kernel(name, t_max, None, jobs)
            rows[ROWS.get(name, name)] = model(kernel=kernel, t_max=steps, **common)
    return rows


def print_line(first: str, others: list[str]) -> None:
    """Print a line of the table at once, also into a pipe."""
    cells = (f" {text}".rjust(width) for text, width in zip(others, WIDTHS, strict=True))
    typer.echo(first.ljust(METHOD) + "".join(cells))
    results_stream().flush()


def describe_difference(results: dict[str, Evaluation], row: str, name: str | None = None) -> str:
    """Return the difference from LABELS with the p-value of a paired t-test; a row may be renamed."""
    test = results[row].compare(results[LABELS])
    gap = results[row].format_score(abs(test.difference)).removesuffix(" %")
    sign = "" if not float(gap) else "-" if test.difference < 0 else "+"
    p_value = f"corrected paired t-test, p = {test.corrected_p:.2g}"
    return f"{row if name is None else name} vs. label counts: {sign}{gap} points ({p_value})"


def write(results: dict[str, Evaluation], path: Path) -> None:
    """Write a CSV file with one line per fold and row, a page, or an image of the scores per fold."""
    if path.suffix.lower() == ".csv":
        records = [{**record, "kernel": row} for row, one in results.items() for record in one.records]
        write_csv(path, list(records[0]), [list(record.values()) for record in records])
    elif path.suffix.lower() == ".html":
        from propkernels.models.evaluation_result import write_evaluations

        differences = [describe_difference(results, row, WORDS.get(row)) for row in results if row != LABELS]
        named = {WORDS.get(row, row): result for row, result in results.items()}
        write_evaluations(path, named, [*differences, PAGE_NOTE])
        print_text(f"Wrote {path}.")
    else:
        from propkernels.plotting import plot_evaluation

        figure: Any = plot_evaluation(results).figure
        with atomic_write(path) as stream:
            figure.savefig(stream, format=path.suffix[1:].lower())
