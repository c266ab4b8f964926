"""``propkernels evaluate``: cross-validation of the default model, LABELS, PK and WL."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from propkernels.cli import arguments, console

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.models.evaluation_result import Evaluation

NOTES = {  # of the rows that are there
    "default": "default: the model of 'propkernels fit', which also chooses its kernel.",
    "LABELS": "(LABELS is PK at t_max = 0, which ignores the edges.)",
    "WL": "WL: Weisfeiler-Lehman.",
}
NOTE = (
    "t_max and C: median and range over the folds, chosen on the training part of each fold. kernel: time "
    "per repeat; total: with all models."
)
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


def _check_kernels(names: list[str] | None) -> list[str] | None:
    known = get_args(arguments.KernelName)  # lists of Literals are not supported by typer
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, known))}.")
    return names


@arguments.reads_data
def evaluate(
    name: arguments.Name,
    t_max: arguments.TMax = 10,
    folds: Annotated[
        int | None,
        console.option("--folds", "Number of folds (default 10, fewer for small classes).", "N", min=2),
    ] = None,
    repeats: Annotated[
        int, console.option("--repeats", "Number of repeats, with new folds and hashes.", "N", min=1)
    ] = 1,
    kernels: Annotated[
        list[str] | None,
        console.option(
            "--kernel",
            f"Evaluate only LABELS and this kernel, repeatable: {arguments.KERNELS}.",
            "KERNEL",
            callback=_check_kernels,
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        console.option(
            "--output -o --html",
            "Also write folds.csv (one line per fold) or page.html; may be repeated.",
            "FILE",
        ),
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: arguments.Input,
) -> None:
    """Estimate accuracy on a data set by cross-validation.

    Compares the default model of 'propkernels fit' with LABELS (counts of node labels), PK as in the paper,
    and WL. In every fold, t_max (0 to --t-max), C and other parameters are chosen on the training part alone.
    """
    for file in output or []:
        console.check_output(file, True, "page.html", (".csv", ".html"))
    protocol: dict[str, Any] = {"cv": folds, "n_repeats": repeats, "random_state": seed, "n_jobs": jobs}
    data = arguments.known_target(source_options.open(name, target_required=True, n_jobs=jobs))
    from propkernels._utils.cells import are_classes
    from propkernels.models.cross_validation import evaluate as cross_validate

    if data.target.dtype.kind in "iu" and not are_classes(data.target):
        data = replace(data, target=data.target.astype(float))  # too many to be classes
    console.print_text(repr(data).removeprefix("Dataset(").removesuffix(")"))
    rows = build_rows(data, kernels, t_max, jobs)
    results: dict[str, Evaluation] = {}
    for row in sorted(rows, key=lambda row: row == DEFAULT):  # last: wrong options are found before it
        given = arguments.with_edges(data) if row not in (DEFAULT, LABELS, PK) else data
        with console.spinner(f"Evaluating {row}"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            results[row] = cross_validate(given, model=rows[row], **protocol)
        if row == LABELS:  # the first; others would warn of the same
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                console.print_error(f"propkernels: {text}")
    results = {row: results[row] for row in rows}
    first = results[LABELS]
    n_repeats, n_folds = first.scores.shape
    times = f"{n_folds} folds" if n_repeats == 1 else f"{n_repeats} x {n_folds} folds"
    console.print_text(f"{first.metric.capitalize()} in cross-validation, {times} ({first.protocol})\n")
    console.print_records([record_of(row, result) for row, result in results.items()], "table")
    console.print_text("")
    for row in [row for row in results if row != LABELS]:
        console.print_text(describe_difference(results, row))
    console.print_text("\n" + " ".join([*(note for row, note in NOTES.items() if row in results), NOTE]))
    for file in output or []:
        write(results, file)


def build_rows(data: Dataset, kernels: list[str] | None, t_max: int, jobs: int) -> dict[str, Any]:
    """Return the model of each row of the table."""
    from propkernels._utils.cells import are_classes
    from propkernels.models.classifier import PropagationClassifier
    from propkernels.models.regressor import PropagationRegressor

    model: Any = PropagationClassifier if are_classes(data.target) else PropagationRegressor
    common: dict[str, Any] = {"n_jobs": jobs, "progress": False}
    rows: dict[str, Any] = {
        LABELS: model(kernel=arguments.build_kernel("propagation", 0, None, jobs), **common)
    }
    for name in kernels or ["auto", "propagation", "wl"]:
        if name == "auto":
            rows[DEFAULT] = model(**common)
        else:
            kernel = arguments.build_kernel(name, t_max, None, jobs)
            rows[ROWS.get(name, name)] = model(kernel=kernel, t_max=None, **common)
    return rows


def record_of(row: str, result: Evaluation) -> dict[str, str]:
    """Return the cells of a row of the table."""
    kernel = (
        "-" if row == DEFAULT else console.seconds(sum(result.kernel_seconds) / len(result.kernel_seconds))
    )
    return {
        "method": row,
        result.metric: result.format_score(result.mean),
        "std. error": result.format_score(result.standard_error),
        "t_max": result.describe_choices("t_max"),
        "C": result.describe_choices("C"),
        "kernel": kernel,
        "total": console.seconds(result.seconds),
    }


def describe_difference(results: dict[str, Evaluation], row: str, name: str | None = None) -> str:
    """Return the difference from LABELS with the p-value of a paired t-test; a row may be renamed."""
    test = results[row].compare(results[LABELS])
    gap = results[row].format_score(abs(test.difference)).removesuffix(" %")
    sign = "" if not float(gap) else "-" if test.difference < 0 else "+"
    p_value = f"corrected paired t-test, p = {test.corrected_p:.2g}"
    return f"{row if name is None else name} vs. label counts: {sign}{gap} points ({p_value})"


def write(results: dict[str, Evaluation], path: Path) -> None:
    """Write a CSV file with one line per fold and row, or a page."""
    if path.suffix.lower() == ".csv":
        records = [{**record, "kernel": row} for row, one in results.items() for record in one.records]
        console.write_records(path, records)
    else:
        from propkernels.models.evaluation_result import write_evaluations

        differences = [describe_difference(results, row, WORDS.get(row)) for row in results if row != LABELS]
        named = {WORDS.get(row, row): result for row, result in results.items()}
        write_evaluations(path, named, [*differences, PAGE_NOTE])
        console.print_text(f"Wrote {path}.")
