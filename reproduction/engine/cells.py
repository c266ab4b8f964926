"""Cells, the numbers to be measured, and the store that keeps them on disk, one small file each."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
        >>> Cell.of("labelled", "PK", "MUTAG", folds=10).file_name
        'MUTAG--PK--0--b48c230c.json'
        """
        return cls(experiment, row, column, repeat, json.dumps(settings, sort_keys=True))

    @property
    def place(self) -> tuple[str, str, str]:
        """Experiment, row and column: what the repeats of a cell have in common."""
        return self.experiment, self.row, self.column

    @property
    def file_name(self) -> str:
        """Name of the file that keeps its value."""
        digest = hashlib.sha256(self.settings.encode()).hexdigest()[:8]
        words = (self.column, self.row, str(self.repeat), digest)
        return "--".join(map(plain_name, words)) + ".json"


def plain_name(text: str) -> str:
    """Name for a file: letters, digits, and few others.

    Examples
    --------
    >>> plain_name("MSRC_9 20 %")
    'MSRC_9_20_percent'
    """
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", text.replace("%", "percent")).strip("_")


Value = dict[str, Any]
FIELDS = ("row", "column", "repeat")


class Store:
    """Values of cells, in a folder.

    Every value is a JSON file of its own, written atomically: a run that is interrupted leaves only
    complete files, and the next run continues from there.

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
    >>> store[cell]["accuracy"]
    84.5
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, cell: Cell) -> Path:
        """File of a cell."""
        return self.folder / cell.experiment / cell.file_name

    def __contains__(self, cell: Cell) -> bool:
        return self.path(cell).is_file()

    def __getitem__(self, cell: Cell) -> Value:
        record = read_json(self.path(cell))
        if record.get("settings") != json.loads(cell.settings):
            raise ValueError(f"{self.path(cell)} holds a result of other settings: delete it")
        value: Value = record["value"]
        return value

    def keep(self, cell: Cell, value: Value) -> None:
        """Write the value of a cell, at once or not at all."""
        record = {name: getattr(cell, name) for name in FIELDS}
        record |= {"settings": json.loads(cell.settings), "value": value}
        write_json(self.path(cell), record)

    def missing(self, cells: list[Cell] | tuple[Cell, ...]) -> list[Cell]:
        """Cells without a value."""
        return [cell for cell in cells if cell not in self]

    def kernel_file(self, name: str) -> Path:
        """File that keeps the matrices of a slow kernel."""
        folder = self.folder / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.npz"


def read_json(path: Path) -> dict[str, Any]:
    """Read a file; say which one where it is damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not readable: delete it, and it is computed again") from error
    return record


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write a file."""
    write_text(path, json.dumps(record, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file under another name and rename it, so that it is complete or not there; make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
