"""``propkernels evaluate``: cross-validated accuracy of PK beside LABELS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import options
from propkernels.cli.build import build_scheme, compile_loops, label_source, open_dataset
from propkernels.cli.console import new_table, percent, progress_bar, say, seconds, stdout

if TYPE_CHECKING:
    from propkernels.learn import Evaluation

NOTE = """
LABELS is the kernel at t_max = 0, which ignores the edges. t_max and C: median
over the folds, and range. kernel: time per repeat; total: with all SVMs."""


def evaluate(
    name: options.Name,
    t_max: options.TMax = 10,
    cost: Annotated[
        float | None, typer.Option("--C", help="Fixed cost C, with t_max fixed too: nothing is chosen.")
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Repeats, hashes drawn anew.")] = 1,
    normalize: options.Normalize = False,
    propagation: options.SchemeOption = "auto",
    laziness: options.Laziness = None,
    normalization: options.NormalizationOption = None,
    labels: options.LabelsOption = options.Labels.auto,
    metric: options.MetricOption = options.Metric.tv,
    bin_width: options.BinWidth = 1e-5,
    n_hashes: options.NHashes = 1,
    base_kernel: options.BaseKernelOption = options.BaseKernel.linear,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Accuracy on a data set, by cross-validation.

    The kernel (PK) stands beside LABELS, its t_max = 0, which ignores the edges. In every fold t_max (0 up
    to --t-max) and C are chosen on the training part, by 5-fold cross-validation.
    """
    scheme = build_scheme(propagation, laziness, normalization)
    from propkernels.kernels import PropagationKernel

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
    protocol: dict[str, Any] = {"n_folds": folds, "repeats": repeats, "random_state": seed, "n_jobs": jobs}
    if cost is not None:
        protocol["C"] = cost
    results = run_both(name, kernel, protocol, t_max if cost is not None else None)
    print_table(results, folds, repeats)


def run_both(name: str, kernel: Any, protocol: dict[str, Any], t_max: int | None) -> dict[str, Evaluation]:
    """Evaluate LABELS and the kernel on the same folds."""
    from propkernels.learn import evaluate as cross_validate

    data = open_dataset(name)
    say(repr(data))
    compile_loops()
    results = {}
    for row, candidates in {"LABELS": 0, "PK": t_max}.items():
        with progress_bar(f"{row} on {data.name}") as tell:
            results[row] = cross_validate(kernel, data, t_max=candidates, progress=tell, **protocol)
    return results


def print_table(results: dict[str, Evaluation], folds: int, repeats: int) -> None:
    """Print one row a kernel."""
    times = f"{folds} folds" if repeats == 1 else f"{repeats} x {folds} folds"
    numbers = ["accuracy", "std. error", "t_max", "C", "kernel", "total"]
    table = new_table(["method"], numbers)
    for row, result in results.items():
        table.add_row(row, percent(result.mean), percent(result.standard_error), *choices_and_times(result))
    say(f"Accuracy in cross-validation, {times}\n")
    stdout().print(table)
    say(NOTE)


def choices_and_times(result: Evaluation) -> list[str]:
    """Return the last columns of a row."""
    kernel_seconds = sum(result.kernel_seconds) / len(result.kernel_seconds)
    chosen = [result.describe_choices(name) for name in ("t_max", "C")]
    return [*chosen, seconds(kernel_seconds), seconds(result.seconds)]
