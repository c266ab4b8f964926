"""``propkernels datasets``, ``convert`` and ``info``: data sets, file formats and versions."""

from __future__ import annotations

import os
import platform
import warnings
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import FormatOption
from propkernels.cli.console import Force, print_records, print_text, spinner, warnings_as_lines
from propkernels.cli.inputs import Input, reads_data

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "pooch", "networkx", "scikit-image")


def datasets(output_format: FormatOption = "table") -> None:
    """List the data sets that can be loaded by name."""
    from propkernels.datasets import list_datasets

    listing = list_datasets()
    if output_format != "table":
        print_records([asdict(info) for info in listing], output_format)
        return
    print_text(str(listing))
    from propkernels.datasets.sources import SUPPORTED

    print_text("\n" + fill(f"A path can be given instead of a name: {SUPPORTED}.", 98))


@reads_data
def convert(
    source: arguments.Name,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="graphs.parquet, NAME.zip (TU), NAME_edges.csv (and nodes, graphs), or a TU folder.",
        ),
    ],
    force: Force = False,
    jobs: arguments.Jobs = -1,
    skip: Annotated[bool, typer.Option("--skip", hidden=True, help="Old name of --errors skip.")] = False,
    *,
    source_options: Input,
) -> None:
    """Convert a data set to another format.

    Keeps labels, attributes, ids, the target, and weights if the format supports them; only Parquet supports
    several labels per atom, other formats get symbols. With --errors skip, skipped items are listed.
    """
    from propkernels.datasets.sources import read_source, save_source

    with spinner(f"Reading {source}"), warnings_as_lines(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="skipped")
        how = source_options.reading(False, None if output.suffix == ".parquet" else {}, jobs)
        data = read_source(source, replace(how, errors="skip") if skip else how)
    with spinner(f"Writing {output}"):
        save_source(data, output, overwrite=force)
    print_text(f"Wrote {output}: {data!r}.")
    if "smiles" in data.extras and how.recipe == "symbol" and not source_options.node_labels:
        print_text("Atoms are labeled by their symbols (Parquet files hold all three labels).")
    skipped = getattr(data.graphs, "skipped", {})
    if skipped:
        print_text(f"Skipped {len(skipped)}:")
        for name, reason in skipped.items():
            print_text(f"  {name}: {reason}")


def info(output_format: FormatOption = "table") -> None:
    """Print versions, threads and data folders."""
    rows = [*versions(), *threads(), *places()]
    if output_format != "table":
        print_records([{"name": name, "value": value} for name, value in rows], output_format)
        return
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print_text(f"{name.ljust(width)}  {value}")


def versions() -> list[tuple[str, str]]:
    """Return versions of propkernels, Python and dependencies."""
    from propkernels._version import __version__

    system = f"{platform.system()} {platform.machine()}"
    core = [("propkernels", __version__), ("python", platform.python_version()), ("system", system)]
    return core + [(name, _version(name)) for name in PACKAGES]


def threads() -> list[tuple[str, str]]:
    """Return the numbers of cores and BLAS threads."""
    import numpy as np  # noqa: F401 -- loads its BLAS
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    pools = [f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info()]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [("cores", f"{cores} usable (--jobs -1 uses them all)"), ("BLAS threads", ", ".join(pools) or "-")]


def places() -> list[tuple[str, str]]:
    """Return the folders that are searched for data sets, in order."""
    from propkernels.datasets.dataset import CACHE_VARIABLE, DATA_VARIABLE, cache_folder, data_folder

    folder, cache = data_folder(), cache_folder()
    first = f"{DATA_VARIABLE} is not set" if folder is None else f"{folder}{_missing(folder.is_dir())}"
    return [
        ("data folder", first),
        ("data cache", f"{cache}{_missing(cache.is_dir())}"),
        ("variables", f"{DATA_VARIABLE} and {CACHE_VARIABLE} name other folders"),
    ]


def _missing(exists: bool) -> str:
    return "" if exists else " (does not exist yet)"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
