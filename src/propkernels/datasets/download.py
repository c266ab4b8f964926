"""Finding data sets: in PROPKERNELS_DATA, in the cache, or by a verified download."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propkernels.datasets.tu.files import read_files

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


BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets/"
SECONDS_TO_WAIT = 30
CHUNK_BYTES = 2**16


class NotOnServerError(ValueError):
    """The site answered that it has no such data set."""


def download(name: str, folder: Path) -> Path:
    """Fetch NAME.zip, look into it, and only then give it its name in the folder.

    Parameters
    ----------
    name : str
        Name of the data set.
    folder : Path
        The cache; made if it does not exist.

    Returns
    -------
    Path
        The zip.

    Raises
    ------
    NotOnServerError
        If the site has no such set.
    ValueError
        If what came is not a zip with that set in it.
    OSError
        If the site cannot be reached, the connection breaks, or the folder cannot be written.
    """
    url = f"{BASE_URL}{name}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    with _temporary_file(folder, name) as temporary:
        _fetch(url, temporary)
        try:
            read_files(temporary, name)
        except ValueError as error:
            reason = str(error).replace(temporary.name, f"{name}.zip")
            raise ValueError(f"the download from {url} cannot be used and was not kept: {reason}") from None
        archive = folder / f"{name}.zip"
        os.replace(temporary, archive)
    return archive


@contextmanager
def _temporary_file(folder: Path, name: str) -> Iterator[Path]:
    """Hidden file of a name of its own, gone in the end unless it was renamed."""
    handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    os.close(handle)
    try:
        yield Path(path)
    finally:
        Path(path).unlink(missing_ok=True)


def _fetch(url: str, path: Path) -> None:
    import pooch
    import requests

    with _progress_bar(f"Downloading {url.rsplit('/', 1)[-1]}") as bar:
        fetch = pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK_BYTES, timeout=SECONDS_TO_WAIT)
        try:
            fetch(url, str(path), None)
        except requests.HTTPError as error:
            status = _status_of(error.response)
            kind = NotOnServerError if status == 404 else OSError
            raise kind(f"{url} answered with status {status}") from None
        except requests.RequestException as error:
            raise OSError(f"{url} could not be downloaded ({type(error).__name__})") from None


def _status_of(response: Any) -> int | None:
    """Status that the site answered with; the connection, which pooch leaves open, is closed."""
    if response is None:
        return None
    response.close()
    return int(response.status_code)


@contextmanager
def _progress_bar(title: str) -> Iterator[Any]:
    """Bar on stderr, in the form pooch expects; None (no bar) where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield _Bar(progress, progress.add_task(title, total=None))


class _Bar:
    """A rich progress bar with the four names that pooch uses."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, total: int) -> None:
        self._progress.update(self._task, total=total or None)

    def update(self, amount: int) -> None:
        self._progress.advance(self._task, amount)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.refresh()
