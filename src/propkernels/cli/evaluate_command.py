"""``propkernels evaluate``: nested cross-validation of the default model, LABELS, PK and WL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from propkernels._utils.safe_files import atomic_write
from propkernels.cli import arguments
from propkernels.cli.arguments import (
    KERNELS,
    KernelName,
    build_kernel,
    build_scheme,
    compile_loops,
    label_source,
)
from propkernels.cli.console import (
    check_output,
    print_error,
    print_text,
    progress_bar,
    results_stream,
    seconds,
)
from propkernels.cli.inputs import Input, known_target, reads_data, with_edges

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.models.evaluation_result import Evaluation

NOTE = """
default: PropagationClassifier() or PropagationRegressor(), which also chooses
its kernel. LABELS: PK at t_max = 0, which ignores the edges. WL: Weisfeiler-
Lehman. t_max and C: median and range over the folds, chosen on the training
part of each fold. kernel: time per repeat; total: with all SVMs."""
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
LEAVE_ONE_OUT = "loo"
METHOD, WIDTHS = 17, (9, 11, 9, 16, 8, 10)  # widths of columns; a line has 80 letters


def _check_folds(folds: str | None) -> str | None:
    if folds is None:
        return folds
    if folds != LEAVE_ONE_OUT and not (folds.isdecimal() and int(folds) >= 2):
        raise typer.BadParameter(
            f'the number of folds must be an integer of at least 2, or "loo" (leave one out); got {folds!r}'
        )
    return folds


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
    paper_costs: Annotated[
        bool,
        typer.Option(
            "--paper-costs", help="Choose C among the values of the paper, for the unscaled kernel."
        ),
    ] = False,
    folds: Annotated[
        str | None,
        typer.Option(
            "--folds",
            callback=_check_folds,
            metavar="N|loo",
            help="Number of folds (default 10, fewer for small classes), or leave one out.",
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, metavar="N", help="Number of repeats, with new folds and hashes."),
    ] = 1,
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups",
            metavar="FILE",
            help="File with the group of each graph, one per line: groups are not split between folds.",
        ),
    ] = None,
    kernels: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            callback=_check_kernels,
            metavar="KERNEL",
            help=f"Evaluate only LABELS and this kernel, repeatable: {KERNELS}.",
        ),
    ] = None,
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring", metavar="NAME", help="Scorer of scikit-learn: roc_auc, balanced_accuracy, f1, ..."
        ),
    ] = None,
    selection: Annotated[
        arguments.Selection,
        typer.Option("--selection", help="How LABELS, PK and WL choose t_max and C: quickly or exactly."),
    ] = "race",
    normalize: arguments.Normalize = False,
    propagation: arguments.SchemeOption = "auto",
    laziness: arguments.Laziness = None,
    normalization: arguments.NormalizationOption = None,
    labels: arguments.LabelsOption = "auto",
    metric: arguments.MetricOption = "tv",
    bin_width: arguments.BinWidth = 1e-5,
    n_hashes: arguments.NHashes = 1,
    base_kernel: arguments.BaseKernelOption = "linear",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write a CSV file, one line per fold."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also write an image of the scores per fold."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Also write an HTML page: table, folds, confusion matrices."
        ),
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Estimate accuracy on a data set by nested cross-validation.

    Compares the default model of 'propkernels fit' with LABELS (counts of node labels), PK as in the paper,
    and WL. In every fold, t_max (0 to --t-max), C and other parameters are chosen on the training part alone.
    Kernel options apply to LABELS, PK and WL. With --C or --paper-costs, the default model is left out,
    because it chooses C from its own grid.
    """
    if cost is not None and paper_costs:
        raise typer.BadParameter(
            "--C and --paper-costs exclude each other: --C fixes the cost, --paper-costs chooses it"
        )
    for file, example in ((output, "folds.csv"), (plot, "folds.png"), (html, "page.html")):
        if file is not None:
            check_output(file, True, example)
    scheme = build_scheme(propagation, laziness, normalization)
    from propkernels import PropagationKernel

    kernel = PropagationKernel(
        propagation=scheme,
        labels=label_source(labels),
        t_max=t_max,
        metric=metric,
        bin_width=bin_width,
        n_hashes=n_hashes,
        base_kernel=base_kernel,
        normalize=normalize,
        n_jobs=jobs,
    )
    protocol: dict[str, Any] = {
        "cv": int(folds) if folds is not None and folds != LEAVE_ONE_OUT else folds,
        "repeats": repeats,
        "groups": None if groups is None else groups.read_text().split(),
        "random_state": seed,
        "n_jobs": jobs,
        "scoring": scoring,
    }
    choosing: dict[str, Any] = {"selection": selection}
    if cost is not None or paper_costs:
        choosing["C"] = "paper" if paper_costs else cost
    choosing["t_max"] = None if cost is None else t_max
    data = with_task(known_target(source_options.open(name, target_required=True, n_jobs=jobs)))
    results = run_rows(data, kernel, kernels, protocol, choosing)
    print_differences(results)
    if output is not None:
        write_records(results, output)
    if plot is not None:
        draw(results, plot)
    if html is not None:
        write_html(results, html)


def run_rows(
    data: Dataset,
    kernel: Any,
    kernels: list[str] | None,
    protocol: dict[str, Any],
    choosing: dict[str, Any],
) -> dict[str, Evaluation]:
    """Evaluate every row of the table on the same folds, and print each row as it is completed.

    The default model takes longest and is evaluated last, so that invalid kernel options are reported early.
    """
    print_text(repr(data))
    compile_loops()
    rows = {LABELS: (kernel, {**choosing, "t_max": 0}), PK: (kernel, choosing)}
    if kernels:
        rows = {LABELS: rows[LABELS], **named_rows(kernels, rows[PK], data, choosing, protocol)}
    else:
        refined = refinement(kernel)
        rows[WL] = refined, choosing
        if "C" not in choosing:
            rows = {DEFAULT: (default_model(data, kernel, protocol["scoring"]), {}), **rows}
    results: dict[str, Evaluation] = {}
    for row in sorted(rows, key=lambda row: row == DEFAULT):
        results[row] = run_row(row, *rows[row], data, protocol)
        if len(results) == 1:
            print_head(results[row])
        print_row(row, results[row])
    return {row: results[row] for row in rows}


def named_rows(
    names: list[str],
    pk_row: tuple[Any, Any],
    data: Any,
    choosing: dict[str, Any],
    protocol: dict[str, Any],
) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return the rows of the requested kernels; "auto" is the default model."""
    kernel, rows = pk_row[0], dict[str, tuple[Any, dict[str, Any]]]()
    for name in names:
        if name == "auto":
            rows[DEFAULT] = default_model(data, kernel, protocol["scoring"]), {}
        elif name == "propagation":
            rows[PK] = pk_row
        else:
            estimator = build_kernel(name, kernel.t_max, None, kernel.n_jobs)
            parameters = estimator.get_params(deep=False)
            has_steps = "t_max" in parameters
            rows[name] = estimator, choosing if has_steps else {**choosing, "t_max": None}
    return rows


def with_task(data: Dataset) -> Dataset:
    """Return the data set with whole numbers as floats if they are too many to be classes."""
    from propkernels._utils.cells import are_classes

    if data.target.dtype.kind not in "iu" or are_classes(data.target):
        return data
    return replace(data, target=data.target.astype(float))


def default_model(data: Any, kernel: Any, scoring: str | None) -> Any:
    """Return the default model of 'propkernels fit'."""
    from propkernels._utils.cells import are_classes
    from propkernels.models.classifier import PropagationClassifier
    from propkernels.models.regressor import PropagationRegressor

    is_class = are_classes(data.target)
    model = PropagationClassifier if is_class else PropagationRegressor
    return model(scoring=scoring, n_jobs=kernel.n_jobs, progress=False)


def refinement(kernel: Any) -> Any:
    """Return Weisfeiler-Lehman with the options of the kernel."""
    from propkernels import WeisfeilerLehman

    names = ("labels", "base_kernel", "normalize", "n_jobs")
    return WeisfeilerLehman(t_max=kernel.t_max, **{name: getattr(kernel, name) for name in names})


def run_row(
    row: str, estimator: Any, choosing: dict[str, Any], data: Any, protocol: dict[str, Any]
) -> Evaluation:
    """Evaluate a row; warnings of LABELS are printed once, on standard error."""
    import warnings

    from propkernels.models.cross_validation import evaluate as cross_validate

    data = with_edges(data) if row not in (DEFAULT, LABELS, PK) else data
    with warnings.catch_warnings(record=True) as caught, progress_bar(f"{row} on {data.name}") as on_progress:
        warnings.simplefilter("always", UserWarning)
        result = cross_validate(data, kernel=estimator, progress=on_progress, **protocol, **choosing)
    for text in dict.fromkeys(str(warning.message) for warning in caught) if row == LABELS else ():
        print_error(f"propkernels: {text}")
    return result


def print_head(first: Evaluation) -> None:
    """Print the protocol and the names of the columns."""
    repeats, n_folds = first.scores.shape
    times = f"{n_folds} folds" if repeats == 1 else f"{repeats} x {n_folds} folds"
    print_text(f"{first.metric.capitalize()} in nested cross-validation, {times} ({first.protocol})\n")
    print_line("method", [first.metric, "std. error", "t_max", "C", "kernel", "total"])


def print_row(row: str, result: Evaluation) -> None:
    """Print the scores, choices and times of a method."""
    values = [result.format_score(value) for value in (result.mean, result.standard_error)]
    print_line(row, [*values, *choices_and_times(row, result)])


def print_line(first: str, others: list[str]) -> None:
    """Print a line of the table at once, also into a pipe."""
    cells = (f" {text}".rjust(width) for text, width in zip(others, WIDTHS, strict=True))
    typer.echo(first.ljust(METHOD) + "".join(cells))
    results_stream().flush()


def print_differences(results: dict[str, Evaluation]) -> None:
    """Print tests of the differences from LABELS, and what the rows mean."""
    print_text("")
    for row in [row for row in results if row != LABELS]:
        print_text(describe_difference(results, row))
    print_text(NOTE)


def describe_difference(results: dict[str, Evaluation], row: str, name: str | None = None) -> str:
    """Return the difference from LABELS with the p-value of a paired t-test; a row may be renamed."""
    test = results[row].compare(results[LABELS])
    gap = results[row].format_score(test.difference).removesuffix(" %")
    sign = "" if test.difference < 0 else "+"
    p_value = f"corrected paired t-test, p = {test.corrected_p:.2g}"
    return f"{row if name is None else name} vs. label counts: {sign}{gap} points ({p_value})"


def choices_and_times(row: str, result: Evaluation) -> list[str]:
    """Return t_max, C and times of a row; the default model has no separate kernel time."""
    kernel_seconds = sum(result.kernel_seconds) / len(result.kernel_seconds)
    chosen = [result.describe_choices(name) for name in ("t_max", "C")]
    return [*chosen, "-" if row == DEFAULT else seconds(kernel_seconds), seconds(result.seconds)]


def write_records(results: dict[str, Evaluation], path: Path) -> None:
    """Write a CSV file, one line per method and fold."""
    import csv

    rows = [{**record, "kernel": row} for row, result in results.items() for record in result.records]
    with atomic_write(path, text=True) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_html(results: dict[str, Evaluation], path: Path) -> None:
    """Write the HTML page."""
    from propkernels.models.evaluation_page import write_evaluations

    differences = [describe_difference(results, row, WORDS.get(row)) for row in results if row != LABELS]
    named = {WORDS.get(row, row): result for row, result in results.items()}
    write_evaluations(path, named, [*differences, PAGE_NOTE])
    print_text(f"Wrote {path}.")


def draw(results: dict[str, Evaluation], path: Path) -> None:
    """Write an image of the scores per fold."""
    from propkernels.plotting import plot_evaluation

    figure: Any = plot_evaluation(results).figure
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower() or "png")
