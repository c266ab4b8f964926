"""Where commands write: places that are checked before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]


def check_output(output: Path, force: bool, example: str = "K.npz") -> None:
    """Refuse, before anything is computed, a place that cannot be written."""
    if output.is_dir():
        raise ValueError(f"{output} is a folder: name a file in it, such as {output / example}")
    if not output.parent.is_dir():
        raise ValueError(f"there is no folder {output.parent} to write {output.name} into")
    if output.exists() and not force:
        raise ValueError(f"{output} exists and was left as it is; --force overwrites it")


def size_of(path: Path) -> str:
    """Size of a file in words."""
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"
