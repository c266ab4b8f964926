"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Metric(StrEnum):
    """Distances that the hash can preserve."""

    tv = "tv"
    hellinger = "hellinger"
    l1 = "l1"
    l2 = "l2"


class Labels(StrEnum):
    """What nodes know at first."""

    auto = "auto"
    node = "node"
    degree = "degree"
    none = "none"


class Normalization(StrEnum):
    """What diffusion does with the neighbours."""

    row = "row"
    symmetric = "symmetric"
    none = "none"


class BaseKernel(StrEnum):
    """How counts are compared."""

    linear = "linear"
    rbf = "rbf"
    intersection = "intersection"
    tanimoto = "tanimoto"
    jaccard = "jaccard"


class Selection(StrEnum):
    """How candidates are compared."""

    auto = "auto"
    race = "race"
    exhaustive = "exhaustive"


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 threads cannot work; use 1 or more, or -1 for all cores")
    return jobs


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Data set (see 'propkernels datasets'), or path of a TU folder or zip."
    ),
]
TMax = Annotated[int, typer.Option("--t-max", min=0, help="Number of propagation steps.")]
MetricOption = Annotated[Metric, typer.Option("--metric", help="Distance that the hash preserves.")]
BinWidth = Annotated[float, typer.Option("--bin-width", help="Width of the hash's bins.")]
NHashes = Annotated[int, typer.Option("--n-hashes", min=1, help="Hashes per step, averaged.")]
LabelsOption = Annotated[
    Labels, typer.Option("--labels", help="What nodes know at first; auto: labels, else degrees.")
]
SchemeOption = Annotated[
    str,
    typer.Option("--propagation", help="How information spreads: auto, diffusion, label_propagation, ..."),
]
Laziness = Annotated[
    float | None, typer.Option("--laziness", help="Diffusion: probability to stay put, 0 (the paper) to 1.")
]
NormalizationOption = Annotated[
    Normalization | None,
    typer.Option("--normalization", help="Diffusion: row: mean of neighbours (the paper); none: their sum."),
]
BaseKernelOption = Annotated[BaseKernel, typer.Option("--base-kernel", help="How counts are compared.")]
Normalize = Annotated[
    bool, typer.Option("--normalize/--no-normalize", help="Divide by the graphs' self-similarities.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random numbers.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", callback=_check_jobs, help="Threads; -1: all cores.")]
