"""What runs of the harness have counted: JSON files, one per run, that add up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "counts"
STORE = "PROPKERNELS_FUZZ_STORE"  # names a folder that the children of one run share
_SCRATCH = re.compile(r"(?<![\w.])/(?:[\w.-]+/)+(?=[\w.-])")  # the folders before the name of a file


def keep(tool: str, counts: dict[str, Any]) -> Path:
    """Write the counts of one run beside those of earlier ones."""
    FOLDER.mkdir(exist_ok=True)
    moment = datetime.now(UTC)
    path = FOLDER / f"{tool}-{moment:%Y%m%dT%H%M%S}-{os.getpid()}.json"
    text = json.dumps({"tool": tool, "ended": f"{moment:%Y-%m-%d %H:%M}", **counts}, indent=1, sort_keys=True)
    path.write_text(without_folders(text) + "\n", encoding="utf-8")
    return path


def without_folders(text: str) -> str:
    """Leave out where files of this machine lie: only their names say something elsewhere.

    Examples
    --------
    >>> without_folders("'/scratch/tmp1/model.pk' is damaged, 3/4 of it, says storage/files.py:99")
    "'model.pk' is damaged, 3/4 of it, says storage/files.py:99"
    """
    return _SCRATCH.sub("", text)


def runs(tool: str) -> Iterator[dict[str, Any]]:
    """The counts of all runs of one tool, oldest first."""
    for path in sorted(FOLDER.glob(f"{tool}-*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))
