"""The journal of a matrix that is being written: which tiles are on the disk, with which contents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from propkernels.utils.files import atomic_write

FORMAT = "propkernels tiles 2"
LONGEST = 2**28  # bytes of a journal that is read: far more tiles than a disk holds


class Journal:
    """A file with one line about the matrix, and one line per tile that is safely on the disk.

    A line is the number of the tile and the CRC-32 of its values. One that a killed process did not finish
    counts for nothing, and neither does a tile whose values are others now: it is written again.

    Parameters
    ----------
    path : Path
    about : dict
        What the matrix is of: a journal of another one is refused.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about = path, {"format": FORMAT, **about}

    def exists(self) -> bool:
        """Whether the work has begun."""
        return self.path.exists()

    def begin(self) -> None:
        """Write the first line."""
        with atomic_write(self.path, text=True) as file:
            file.write(json.dumps(self.about) + "\n")

    def done(self, n_tiles: int) -> dict[int, int]:
        """Tiles that were on the disk, and the checksum of each.

        Raises
        ------
        ValueError
            If the journal is damaged, or is that of another matrix.
        """
        if self.path.stat().st_size > LONGEST:
            raise ValueError(f"{self.path} is not a journal of kernel_to_disk")
        head, *lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        try:
            about = json.loads(head)
            # behind the last line end: a line that was not finished
            tiles = {int(tile): int(crc) for tile, crc in (line.split(" ") for line in lines[:-1])}
            unfinished = lines[-1]
        except (ValueError, IndexError):  # no line end at all: the first line was not finished
            raise ValueError(f"{self.path} is damaged: remove it, and what it belongs to") from None
        if about != self.about:
            raise ValueError(
                f"{self.path} belongs to other graphs, parameters or tiles: name another file, or remove it "
                "and what it belongs to"
            )
        if not all(0 <= tile < n_tiles for tile in tiles):
            raise ValueError(f"{self.path} is damaged: remove it, and what it belongs to")
        self._cut(len(unfinished.encode()))
        return tiles

    def _cut(self, unfinished: int) -> None:
        """Remove an unfinished line, so that the next one does not continue it."""
        if unfinished:
            with self.path.open("r+b") as file:
                file.truncate(self.path.stat().st_size - unfinished)

    def add(self, tiles: dict[int, int]) -> None:
        """Note that tiles are on the disk, with their checksums."""
        with self.path.open("a", encoding="ascii", newline="") as file:
            file.write("".join(f"{tile} {crc}\n" for tile, crc in tiles.items()))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """The matrix is complete."""
        self.path.unlink()
