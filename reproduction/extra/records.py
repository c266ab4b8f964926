"""What the experiments of this folder share: results as JSON lines, progress on stderr, mean and error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Record = TypeVar("Record")


def load_records(path: Path | None, kind: type[Record]) -> list[Record]:
    """Read the records that an earlier run has kept; none without a file."""
    if path is None or not path.exists():
        return []
    return [kind(**json.loads(text)) for text in path.read_text(encoding="utf-8").splitlines()]


def keep_records(records: Sequence[Any], path: Path | None) -> None:
    """Add records, which are dataclasses, to the file; do nothing without a file."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(record)) + "\n" for record in records)


def report(text: str) -> None:
    """Write a line of progress to stderr."""
    print(text, file=sys.stderr, flush=True)


def with_error(values: Sequence[float]) -> str:
    """Mean and standard error over the repeats; the mean alone where there is one repeat.

    Examples
    --------
    >>> with_error([84.0, 85.0, 86.0])
    '85.0 ± 0.6'
    """
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{error}"
