"""``propkernels featurize`` and ``propkernels verify``: features of files of graphs, written to a folder."""

from __future__ import annotations

import os
import re
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.console import print_text, seconds


class Features(StrEnum):
    """Features that can be computed part by part."""

    propagation = "propagation"
    weisfeiler_lehman = "weisfeiler-lehman"
    shortest_path = "shortest-path"
    labels = "labels"


class Errors(StrEnum):
    """What is done about faulty molecules."""

    stop = "raise"
    skip = "skip"


CLASSES = {
    Features.propagation: "PropagationFeatures",
    Features.weisfeiler_lehman: "WeisfeilerLehmanFeatures",
    Features.shortest_path: "ShortestPathFeatures",
    Features.labels: "LabelHistogramFeatures",
}


def parse_number(text: str) -> int:
    """Read a number, or a power such as 2**20.

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
        help="Parquet files, TU folders or zips, CSV, TSV or SMI files of molecules, or folders of them.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-j", min=1, metavar="N", help="Processes; by default one per core."),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write; an earlier run is resumed.")
]


def featurize(
    sources: Sources,
    output: Output,
    n_features: Annotated[
        int,
        typer.Option("--n-features", parser=parse_number, metavar="N", help="Columns to hash into."),
    ] = 2**20,
    features: Annotated[Features, typer.Option("--features", help="What is counted.")] = Features.propagation,
    t_max: arguments.TMax = 10,
    labels: arguments.LabelsOption = arguments.Labels.auto,
    seed: arguments.Seed = 0,
    workers: Workers = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://...: its workers are used."
        ),
    ] = None,
    nodes_per_part: Annotated[
        int,
        typer.Option("--nodes-per-part", parser=parse_number, metavar="N", help="Most nodes of one file."),
    ] = 2_000_000,
    smiles_column: arguments.SmilesColumn = None,
    target_column: arguments.TargetColumn = None,
    errors: Annotated[
        Errors, typer.Option("--errors", help="Stop at a faulty molecule, or skip it.")
    ] = Errors.stop,
) -> None:
    """Compute features of files of graphs, part by part.

    Each part becomes one Parquet file that is complete or not there. Whatever is killed, the same command
    again computes what is missing. 'propkernels verify' checks the folder.
    """
    from propkernels.scale import featurize as compute
    from propkernels.scale import partition

    if scheduler is not None and workers is not None:
        raise ValueError("--workers and --scheduler exclude each other: a scheduler has its own workers")
    estimator = build_features(features, n_features, t_max, labels, seed)
    start = perf_counter()
    plan = partition(
        sources,
        nodes_per_part,
        smiles_column=smiles_column,
        target_column=target_column,
        errors=errors.value,
    )
    print_text(repr(plan))
    found = n_found(output)
    if found:
        print_text(f"Resuming: {found} of {len(plan)} parts are in {output} already.")
    executor = scheduler or executor_of(workers, len(plan) - found)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        opened = compute(plan, estimator, output, executor)
    for warning in said:
        typer.echo(f"propkernels: {warning.message}", err=True)
    took = perf_counter() - start
    n_bytes = opened.manifest.n_bytes
    print_text(f"Wrote {output}: {opened!r}, {n_bytes / 1e6:,.1f} MB, in {seconds(took)}. Next:")
    print_text(f"  propkernels verify {output}")


def build_features(kind: Features, n_features: int, t_max: int, labels: Any, seed: int) -> Any:
    """Return the estimator with the settings that apply to it."""
    from propkernels import kernels

    estimator = getattr(kernels, CLASSES[kind])()
    settings = {
        "n_features": n_features,
        "t_max": t_max,
        "n_iter": t_max,
        "labels": arguments.label_source(labels),
        "random_state": seed,
    }
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{name: value for name, value in settings.items() if name in known})


def n_found(output: Path) -> int:
    """Number of parts that an earlier run left."""
    return len(list(output.glob("*.parquet"))) if (output / "plan.json").exists() else 0


def executor_of(workers: int | None, n_parts: int) -> int | None:
    """Processes to start: no more than there are parts; one part is computed in this process."""
    n_workers = min(workers or os.cpu_count() or 1, n_parts)
    return n_workers if n_workers > 1 else None


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that 'featurize' wrote.")],
    jobs: arguments.Jobs = -1,
) -> None:
    """Check a folder that 'featurize' wrote.

    Its plan, its manifest, and every byte of its files are compared.
    """
    from propkernels.scale import verify as check
    from propkernels.scale.verifying import DamagedFolderError

    try:
        found = check(folder, n_jobs=jobs)
    except DamagedFolderError as error:
        for problem in error.problems:
            typer.echo(f"propkernels: {folder}: {problem}", err=True)
        sys.exit(1)
    size = f"{found.n_bytes / 1e6:,.1f} MB"
    print_text(f"{folder} is in order: {found.n_parts:,} parts, {found.n_graphs:,} graphs, {size}")
