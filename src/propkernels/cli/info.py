"""``propkernels datasets`` and ``propkernels info``: what can be loaded, and what is installed."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

from propkernels.cli.arguments import Format, FormatOption
from propkernels.cli.console import print_records, print_text

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "pooch", "networkx", "scikit-image")


def datasets(output_format: FormatOption = Format.table) -> None:
    """List the data sets that are known by name."""
    from propkernels.datasets import list_datasets

    known = list_datasets()
    if output_format is not Format.table:
        print_records([asdict(info) for info in known], output_format)
        return
    print_text(str(known))
    print_text("\nA path of a folder or zip in the TU layout can be given instead of a name.")


def info(output_format: FormatOption = Format.table) -> None:
    """Print versions, threads, and where data is looked for."""
    rows = [*versions(), *threads(), *places()]
    if output_format is not Format.table:
        print_records([{"name": name, "value": value} for name, value in rows], output_format)
        return
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print_text(f"{name.ljust(width)}  {value}")


def versions() -> list[tuple[str, str]]:
    """Versions of this package, of Python and of the dependencies."""
    from propkernels._version import __version__

    system = f"{platform.system()} {platform.machine()}"
    own = [("propkernels", __version__), ("python", platform.python_version()), ("system", system)]
    return own + [(name, _version(name)) for name in PACKAGES]


def threads() -> list[tuple[str, str]]:
    """Return the numbers of cores and of BLAS threads."""
    import numpy as np  # noqa: F401 -- its BLAS is what is asked about
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    pools = [f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info()]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [("cores", f"{cores} usable (--jobs -1 uses them all)"), ("BLAS threads", ", ".join(pools) or "-")]


def places() -> list[tuple[str, str]]:
    """Return where data sets are looked for, in this order."""
    from propkernels.datasets.download import CACHE_VARIABLE, DATA_VARIABLE, cache_folder, data_folder

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
