"""Where data sets lie: the folder named by PROPKERNELS_DATA, then the user's cache."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DATA_VARIABLE = "PROPKERNELS_DATA"
CACHE_VARIABLE = "PROPKERNELS_CACHE"
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def check_name(name: Any) -> str:
    """Refuse what cannot be the name of a data set, such as a path."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set must be a string, got {type(name).__name__}")
    if not PLAIN_NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a data set: letters, digits, '.', '_', '+' and '-' only "
            "(read_tu reads a folder or a zip by its path)"
        )
    return name


def data_folder() -> Path | None:
    """Folder named by PROPKERNELS_DATA, if that is set."""
    value = os.environ.get(DATA_VARIABLE)
    return Path(value).expanduser() if value else None


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Folder for downloads: the argument, else PROPKERNELS_CACHE, else the usual place of the system."""
    value = cache or os.environ.get(CACHE_VARIABLE)
    if value:
        return Path(value).expanduser()
    import pooch

    return Path(pooch.os_cache("propkernels"))


def find_in(folder: Path | None, name: str) -> Path | None:
    """Return the zip or the folder of a data set inside a folder, if there is one."""
    if folder is None:
        return None
    archive, directory = folder / f"{name}.zip", folder / name
    if archive.is_file():
        return archive
    found = [*directory.glob(f"{name}_A.txt"), *directory.glob(f"*/{name}_A.txt")]
    return directory if found else None
