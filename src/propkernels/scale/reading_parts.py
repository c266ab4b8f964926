"""iter_part: read the graphs of a part of any format, after checking its hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import propkernels.scale.molecule_files as molecules
import propkernels.scale.parquet_files as parquet
import propkernels.scale.parquet_tables as parquet_tables
import propkernels.scale.sdf_files as sdf
import propkernels.scale.tu_folders as tu
import propkernels.scale.whole_sources as whole
from propkernels.scale.pieces import GraphBlock
from propkernels.scale.plan import Part

FORMATS: dict[str, ModuleType] = {  # each with survey, digest and read
    "parquet": parquet,
    "parquet table": parquet_tables,
    "sdf": sdf,
    "table": molecules,
    "smiles": molecules,
    "tu": tu,
    "source": whole,
}


class SourceChangedError(ValueError):
    """A file has changed since the plan was made."""


def check_source(part: Part) -> None:
    """Raise SourceChangedError if the bytes of a part have changed since the plan was made."""
    if not Path(part.path).exists():
        raise FileNotFoundError(f"the file {part.path} is missing: restore it, or make a new plan")
    try:
        now = FORMATS[part.kind].digest(part)
    except (ValueError, IndexError) as error:
        now = f"it cannot be read ({error})"
    if now != part.sha256:
        raise SourceChangedError(f"{part.path} has changed since the plan was made: make a new plan")


def iter_part(part: Part) -> Iterator[GraphBlock]:
    """Read the graphs of a part in blocks of bounded size.

    Parameters
    ----------
    part : Part

    Yields
    ------
    GraphBlock
        Graphs, target (a list, or None) and ids.

    Raises
    ------
    SourceChangedError
        If the file has changed since the plan was made.
    """
    if part.kind not in FORMATS:
        raise ValueError(f"{part.path} has the unknown format {part.kind!r}")
    check_source(part)
    yield from FORMATS[part.kind].read(part)
