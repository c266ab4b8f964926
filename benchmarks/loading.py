"""Reading data sets from their zip files: seconds, files already in the page cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.case import Call, Case, Result, Settings
from benchmarks.timing import best_of

TITLE = "Loading"


def loading(name: str) -> Any:
    """Prepare ``pk.datasets.load(name)``."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        return lambda: pk.datasets.load(name)

    return prepare


CASES = (
    Case("load-mutag", "MUTAG", loading("MUTAG")),
    Case("load-nci1", "NCI1", loading("NCI1")),
    Case("load-dd", "DD", loading("DD"), seconds=1.5),
    Case("load-hiv", "HIV", loading("HIV"), seconds=2.5),
)


def measure(case: Case, settings: Settings) -> Iterator[Result]:
    """Time the loader."""
    times = best_of(case.prepare(None, 1), settings)
    yield Result(
        case.name,
        "loading",
        case.dataset,
        measured=times["min"],
        target=case.seconds,
        processor=times["processor"],
        details=times,
    )
