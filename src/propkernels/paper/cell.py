"""Cell: one number to be measured, in one repeat."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
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
