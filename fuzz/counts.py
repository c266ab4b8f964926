"""What runs of the harness have counted: JSON files, one per run, that add up.

``python -m fuzz.counts`` folds the files of all but the last runs into one per tool: sums stay, and findings,
which were mended since, are in the history of the repository.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
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
    >>> without_folders("'/scratch/tmp1/model.pk' is damaged, 3/4 of it, says storage/model_files.py:99")
    "'model.pk' is damaged, 3/4 of it, says storage/model_files.py:99"
    """
    return _SCRATCH.sub("", text)


def fold_cases() -> Path | None:
    """Add up all runs of random cases in one file, but for the last run of each family."""
    paths = sorted(FOLDER.glob("fuzz-*.json"))
    known = {path: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    last: dict[str, Path] = {}
    for path, run in known.items():
        last |= {key.split()[0]: path for key in run["counts"]}
    old = [path for path in paths if path not in last.values()]
    if len(old) < 2:
        return None
    for checked in ("0", "1"):
        chosen = [path for path in old if known[path]["boundscheck"] == checked]
        if chosen:
            _fold(chosen, [known[path] for path in chosen])
    return FOLDER


def _fold(paths: list[Path], several: list[dict[str, Any]]) -> None:
    counts: Counter[str] = Counter()
    for run in several:
        counts.update(run["counts"])
    ends = {"first": min(run["first"] for run in several), "last": max(run["last"] for run in several)}
    seconds = sum(run["seconds"] for run in several)
    sums = {**several[0], **ends, "counts": dict(sorted(counts.items())), "findings": [], "seconds": seconds}
    text = json.dumps({**sums, "ended": several[-1]["ended"]}, indent=1, sort_keys=True)
    for path in paths[1:]:
        path.unlink()
    paths[0].write_text(text + "\n", encoding="utf-8")


def runs(tool: str) -> Iterator[dict[str, Any]]:
    """The counts of all runs of one tool, oldest first."""
    for path in sorted(FOLDER.glob(f"{tool}-*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(fold_cases())
