"""Cells, the numbers to be measured, and the store that keeps them: files of JSON lines."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

Value = dict[str, Any]
MEASURED, MOST_TREES = "measured.json", 4


@dataclass(frozen=True)
class Cell:
    """One number of one table or figure, in one repeat.

    Attributes
    ----------
    experiment, row, column : str
        Where it stands. Rows and columns of a table are named as in ``published.toml``.
    repeat : int
        Number of the repeat; the seeds follow from it.
    settings : str
        How it is measured, as JSON with sorted keys. Cells with other settings are other cells: what was
        measured with the old ones is never taken for the new.
    """

    experiment: str
    row: str
    column: str
    repeat: int = 0
    settings: str = field(default="{}", repr=False)

    @classmethod
    def of(cls, experiment: str, row: str, column: str, repeat: int = 0, **settings: Any) -> Cell:
        """Return the cell with these settings.

        Examples
        --------
        >>> Cell.of("labelled", "PK", "MUTAG", folds=10).key
        ('PK', 'MUTAG', 0, 'b48c230c')
        """
        return cls(experiment, row, column, repeat, json.dumps(settings, sort_keys=True))

    def read(self) -> dict[str, Any]:
        """Return the settings."""
        settings: dict[str, Any] = json.loads(self.settings)
        return settings

    @property
    def place(self) -> tuple[str, str, str]:
        """Experiment, row and column: what the repeats of a cell have in common."""
        return self.experiment, self.row, self.column

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What distinguishes records of an experiment."""
        return self.row, self.column, self.repeat, hashlib.sha256(self.settings.encode()).hexdigest()[:8]


@cache
def processor() -> str:
    """Name of the processor, as the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@cache
def tree() -> str:
    """The commit of this repository, and whether files of the package differ from it."""

    def git(*arguments: str) -> str:
        command, here = ["git", *arguments], Path(__file__).parent
        return subprocess.run(command, cwd=here, capture_output=True, text=True, check=True).stdout.strip()

    try:
        is_changed = git("status", "--porcelain", ":/src")
        return git("rev-parse", "--short=8", "HEAD") + (", changed" if is_changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def note_measured(path: Path) -> None:
    """Keep the tree and the day of records that are added to a file, in another file of its folder."""
    known = _measured(path.parent)
    days, day = known.setdefault(path.name, {}), datetime.now(UTC).strftime("%Y-%m-%d")
    if days.get(tree()) != day:
        days[tree()] = day
        write_text(path.with_name(MEASURED), json.dumps(known, indent=1, sort_keys=True) + "\n")


def _measured(folder: Path) -> dict[str, dict[str, str]]:
    path = folder / MEASURED
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def measured_on(folder: Path, *files: str) -> str:
    """Say on which days, and with which trees, the records of some files were measured.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_text(folder / MEASURED, '{"a.jsonl": {"1f": "2026-11-18", "0e": "2026-11-17"}}')
    >>> measured_on(folder, "a.jsonl")
    '2026-11-17 to 2026-11-18, trees 0e, 1f'
    """
    known = _measured(folder)
    days = sorted({(day, name) for file in files for name, day in known.get(file, {}).items()})
    names = list(dict.fromkeys(name for _, name in days))
    if not names:
        return "on a day that was not kept"
    span = " to ".join(dict.fromkeys((days[0][0], days[-1][0])))
    if len(names) > MOST_TREES:
        return f"{span}, {len(names)} trees (`{MEASURED}` of the records)"
    return f"{span}, tree{'s' if len(names) > 1 else ''} {', '.join(names)}"


def plain_name(text: str) -> str:
    """Name for a file: letters, digits, and few others.

    Examples
    --------
    >>> plain_name("MSRC_9 20 %")
    'MSRC_9_20_percent'
    """
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", text.replace("%", "percent")).strip("_")


class Store:
    """Values of cells, in a folder: one file of JSON lines for each experiment.

    A line is added as soon as its value is known: a run that is interrupted leaves complete lines, and the
    next run continues from there. Settings are written once, in the line before the first value with them.

    Parameters
    ----------
    folder : str or path
        Made when the first value is kept.

    Examples
    --------
    >>> import tempfile
    >>> store, cell = Store(tempfile.mkdtemp()), Cell.of("labelled", "PK", "MUTAG", folds=10)
    >>> cell in store
    False
    >>> store.keep(cell, {"accuracy": 84.5})
    >>> Store(store.folder)[cell]["accuracy"]
    84.5
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._known: dict[str, dict[tuple[Any, ...], Value]] = {}
        self._settings: set[tuple[str, str]] = set()

    def path(self, experiment: str) -> Path:
        """File of an experiment."""
        return self.folder / f"paper_{experiment}.jsonl"

    def _read(self, experiment: str) -> dict[tuple[Any, ...], Value]:
        if experiment not in self._known:
            found = self._known[experiment] = {}
            path = self.path(experiment)
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            for number, line in enumerate(lines, start=1):
                try:
                    *key, value = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"line {number} of {path} is not readable: delete it") from error
                if len(key) == 1:
                    self._settings.add((experiment, key[0]))
                else:
                    found[tuple(key)] = value
        return self._known[experiment]

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self._read(cell.experiment)

    def __getitem__(self, cell: Cell) -> Value:
        return self._read(cell.experiment)[cell.key]

    def keep(self, cell: Cell, value: Value) -> None:
        """Add the value of a cell."""
        known, digest = self._read(cell.experiment), cell.key[-1]
        lines = [json.dumps([*cell.key, value], separators=(",", ":"))]
        if (cell.experiment, digest) not in self._settings:
            head = {**cell.read(), "processor": processor()}
            lines.insert(0, json.dumps([digest, head], separators=(",", ":")))
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path(cell.experiment).open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        note_measured(self.path(cell.experiment))
        known[cell.key] = value
        self._settings.add((cell.experiment, digest))

    def values(self, experiment: str) -> list[Value]:
        """All values of an experiment."""
        return list(self._read(experiment).values())

    def missing(self, cells: list[Cell] | tuple[Cell, ...]) -> list[Cell]:
        """Cells without a value."""
        return [cell for cell in cells if cell not in self]


def write_text(path: Path, text: str) -> None:
    """Write a file under another name and rename it, so that it is complete or not there; make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
