"""``propkernels featurize``: compute features of files of graphs."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

from propkernels.cli import arguments
from propkernels.cli.console import print_text, seconds, warnings_as_lines
from propkernels.cli.inputs import Input, reads_data

Features = Literal["propagation", "weisfeiler-lehman", "shortest-path", "labels"]
CLASSES = {
    "propagation": "PropagationFeatures",
    "weisfeiler-lehman": "WeisfeilerLehmanFeatures",
    "shortest-path": "ShortestPathFeatures",
    "labels": "LabelHistogramFeatures",
}


def parse_number(text: str) -> int:
    """Return the integer of a text, such as "1000" or "2**20".

    Examples
    --------
    >>> parse_number("2**20"), parse_number("1000"), parse_number("1_000")
    (1048576, 1000, 1000)
    """
    match = re.fullmatch(r"(\d{1,6})(?:\*\*|\^)(\d{1,2})", str(text).strip())
    if match:
        return int(match[1]) ** int(match[2])
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number such as 1000000 or 2**20") from None


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Parquet files, TU folders or zips, CSV, TSV or SMI files of molecules, folders of them, or any "
        "other data set, which is read at once.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-j", min=1, metavar="N", help="Number of processes; default: one per core."),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Output folder; an earlier run is resumed.")
]


@reads_data
def featurize(
    sources: Sources,
    output: Output,
    n_features: Annotated[
        int,
        typer.Option("--n-features", parser=parse_number, metavar="N", help="Number of columns."),
    ] = 2**20,
    features: Annotated[Features, typer.Option("--features", help="Features to compute.")] = "propagation",
    t_max: arguments.TMax = 10,
    labels: arguments.LabelsOption = "auto",
    seed: arguments.Seed = 0,
    workers: Workers = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="Use the workers of a Dask scheduler (tcp://...)."
        ),
    ] = None,
    nodes_per_part: Annotated[
        int,
        typer.Option(
            "--nodes-per-part", parser=parse_number, metavar="N", help="Maximum number of nodes per part."
        ),
    ] = 2_000_000,
    *,
    source_options: Input,
) -> None:
    """Compute features of files of graphs, part by part.

    Writes one Parquet file per part, either complete or absent. After an interruption, the same command
    computes the missing parts.
    """
    from propkernels.scale import featurize as compute

    if scheduler is not None and workers is not None:
        raise ValueError("--workers and --scheduler exclude each other: the scheduler provides the workers")
    estimator = build_features(features, n_features, t_max, labels, seed)
    start = perf_counter()
    plan = plan_of(sources, nodes_per_part, source_options)
    print_text(repr(plan))
    n_complete = n_existing_parts(output)
    if n_complete:
        print_text(f"Resuming: {n_complete} of {len(plan)} parts are already in {output}.")
    executor = scheduler or executor_of(workers, len(plan) - n_complete)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        opened = compute(plan, estimator, output, executor)
    for warning in caught:
        typer.echo(f"propkernels: {warning.message}", err=True)
    took = perf_counter() - start
    n_bytes = opened.manifest.n_bytes
    print_text(f"Wrote {output}: {opened!r}, {n_bytes / 1e6:,.1f} MB, in {seconds(took)}.")


def plan_of(sources: list[str], nodes_per_part: int, source_options: Input) -> Any:
    """Return the plan of files of graphs, read by the options of the command line."""
    from propkernels.scale.partition import plan_sources

    with warnings_as_lines():
        return plan_sources(sources, nodes_per_part, source_options.reading(False, None, None))


def build_features(kind: Features, n_features: int, t_max: int, labels: Any, seed: int) -> Any:
    """Return the features estimator with the settings it supports."""
    from propkernels import kernels

    estimator = getattr(kernels, CLASSES[kind])()
    settings = {
        "n_features": n_features,
        "t_max": t_max,
        "labels": arguments.label_source(labels),
        "random_state": seed,
    }
    parameters = estimator.get_params(deep=False)
    return estimator.set_params(**{name: value for name, value in settings.items() if name in parameters})


def n_existing_parts(output: Path) -> int:
    """Return the number of parts written by an earlier run."""
    return len(list(output.glob("*.parquet"))) if (output / "plan.json").exists() else 0


def executor_of(workers: int | None, n_parts: int) -> int | None:
    """Return the number of processes, at most one per part; None for a single part (this process)."""
    n_workers = min(workers or os.cpu_count() or 1, n_parts)
    return n_workers if n_workers > 1 else None
