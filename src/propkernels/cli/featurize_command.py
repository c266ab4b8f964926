"""``propkernels featurize``: compute features of files of graphs."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from propkernels.cli import arguments, console

NODES_PER_PART = 2_000_000


@arguments.reads_data
def featurize(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Parquet files, TU folders or zips, CSV, TSV, SDF or SMI files of molecules, or folders of "
            "them.",
        ),
    ],
    output: Annotated[
        Path, console.option("--output -o", "Output folder; an earlier run is resumed.", "DIR")
    ],
    n_features: Annotated[int, console.option("--n-features", "Number of columns.", "N")] = 2**20,
    t_max: arguments.TMax = 10,
    seed: arguments.Seed = 0,
    workers: Annotated[
        int | None, console.option("--workers -j", "Processes; default: one per core.", "N", min=1)
    ] = None,
    scheduler: Annotated[
        str | None,
        console.option("--scheduler", "Use the workers of a Dask scheduler (tcp://...).", "ADDRESS"),
    ] = None,
    *,
    source_options: arguments.Input,
) -> None:
    """Compute features of files of graphs, part by part.

    Writes one Parquet file per part, either complete or absent. After an interruption, the same command
    computes the missing parts.
    """
    from propkernels.kernels import PropagationFeatures
    from propkernels.scale import featurize as compute
    from propkernels.scale.partition import plan_sources

    if scheduler is not None and workers is not None:
        raise ValueError("--workers and --scheduler exclude each other: the scheduler provides the workers")
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file: name a folder")
    estimator = PropagationFeatures(n_features=n_features, t_max=t_max, random_state=seed)
    start = perf_counter()
    with console.warnings_as_lines():
        plan = plan_sources(sources, NODES_PER_PART, source_options.reading(False, None, None))
    console.print_text(repr(plan).removeprefix("Plan(").removesuffix(")"))
    n_complete = len(list(output.glob("part-*.parquet")))
    if n_complete:
        console.print_text(f"Resuming: {n_complete} of {len(plan)} parts are already in {output}.")
    n_workers = min(workers or os.cpu_count() or 1, len(plan) - n_complete)
    with console.warnings_as_lines():  # a single part is computed in this process
        opened = compute(plan, estimator, output, scheduler or (n_workers if n_workers > 1 else None))
    took = perf_counter() - start
    n_bytes = sum(opened.path(part).stat().st_size for part in range(opened.n_parts))
    found = repr(opened).removeprefix("FeatureFolder(").removesuffix(")")
    console.print_text(f"Wrote {output}: {found}, {n_bytes / 1e6:,.1f} MB, in {console.seconds(took)}.")
