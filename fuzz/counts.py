"""What runs of the harness have counted: JSON files, one per run, that add up."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "counts"


def keep(tool: str, counts: dict[str, Any]) -> Path:
    """Write the counts of one run beside those of earlier ones."""
    FOLDER.mkdir(exist_ok=True)
    moment = datetime.now(UTC)
    path = FOLDER / f"{tool}-{moment:%Y%m%dT%H%M%S}-{os.getpid()}.json"
    text = json.dumps({"tool": tool, "ended": f"{moment:%Y-%m-%d %H:%M}", **counts}, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def runs(tool: str) -> Iterator[dict[str, Any]]:
    """The counts of all runs of one tool, oldest first."""
    for path in sorted(FOLDER.glob(f"{tool}-*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))
