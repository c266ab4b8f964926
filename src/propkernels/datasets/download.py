"""Finding data sets: in PROPKERNELS_DATA, in the cache, or by a verified download."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propkernels.datasets.checksums import CHECKSUMS, Checksum
from propkernels.datasets.tu.files import read_files
from propkernels.utils.files import temporary_folder
from propkernels.utils.progress import ProgressBar

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
SCHEMES = ("https://",)  # of the address, and of whatever it redirects to
SECONDS_TO_WAIT = 30
CHUNK_BYTES = 2**16
MOST_BYTES = 2**30  # of an archive whose size is not known


class NotOnServerError(ValueError):
    """The site answered that it has no such data set."""


class UnverifiedError(ValueError):
    """There is no known checksum, or the download does not have it."""


class TooLongError(OSError):
    """The site sends more than is expected."""


def download(name: str, folder: Path, *, allow_unverified: bool = False) -> Path:
    """Fetch NAME.zip, verify it, and only then give it its name in the folder.

    Parameters
    ----------
    name : str
        Name of the data set.
    folder : Path
        The cache; created if it does not exist.
    allow_unverified : bool, default=False
        Whether to accept an archive without a known SHA-256, or with another one than is known.

    Returns
    -------
    Path
        The zip.

    Raises
    ------
    NotOnServerError
        If the site has no such set.
    UnverifiedError
        If there is no known checksum, or the archive has another one.
    ValueError
        If what came is not a zip with that set in it.
    OSError
        If the site cannot be reached, leaves https or sends too much, or the folder cannot be written.
    """
    url, known = f"{BASE_URL}{name}.zip", CHECKSUMS.get(name)
    if known is None and not allow_unverified:
        raise UnverifiedError(
            f"its checksum is not known: allow_unverified=True downloads {url} and trusts what comes"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder) as temporary:
        archive = _retrieve(url, name, temporary, None if allow_unverified else known)
        try:
            read_files(archive, name)
        except ValueError as error:
            raise ValueError(f"the download from {url} cannot be used and was not kept: {error}") from None
        return archive.replace(folder / archive.name)


def _retrieve(url: str, name: str, folder: Path, known: Checksum | None) -> Path:
    """Download through pooch, which verifies the checksum."""
    import pooch

    fetch = _Fetch(MOST_BYTES if known is None else known.n_bytes)
    advice = "and was not kept; allow_unverified=True trusts what comes"
    digest = None if known is None else f"sha256:{known.sha256}"
    with _quiet(pooch.get_logger()):
        try:
            path = pooch.retrieve(url, digest, fname=f"{name}.zip", path=folder, downloader=fetch)
        except ValueError as error:
            if known is None or not fetch.completed:
                raise
            raise UnverifiedError(f"{url} has another SHA-256 than {known.sha256}, {advice}") from error
        except TooLongError as error:
            raise error if known is None else UnverifiedError(f"{error}, {advice}") from None
    return Path(path)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing the download; the progress bar does that."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


class _Fetch:
    """A downloader for pooch: https only, redirects included, and no more bytes than expected."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.completed = most_bytes, False

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        """Write what the address serves into a file."""
        import requests

        try:
            with _session() as session, session.get(url, stream=True, timeout=SECONDS_TO_WAIT) as response:
                response.raise_for_status()
                self._write(response, url, output_file)
        except requests.HTTPError as error:
            status = None if error.response is None else error.response.status_code
            kind = NotOnServerError if status == 404 else OSError
            raise kind(f"{url} answered with status {status}") from None
        except requests.exceptions.InvalidSchema:
            raise OSError(f"{url} does not stay with https, and was not followed") from None
        except requests.RequestException as error:
            raise OSError(f"{url} could not be downloaded ({type(error).__name__})") from None
        self.completed = True

    def _write(self, response: Any, url: str, output_file: str) -> None:
        """Stream the body to the file, and stop where it is longer than expected."""
        declared, done = response.headers.get("Content-Length", ""), 0
        length = int(declared) if declared.isdecimal() else None
        title = f"Downloading {url.rsplit('/', 1)[-1]}"
        with open(output_file, "wb") as file, ProgressBar(title, length, unit="B") as bar:
            for chunk in response.iter_content(CHUNK_BYTES):
                done += len(chunk)
                if done > self.most_bytes or (length or 0) > self.most_bytes:
                    raise TooLongError(f"{url} is longer than the {self.most_bytes:,} bytes expected")
                file.write(chunk)
                bar.step(len(chunk))


def _session() -> Any:
    """Return a session for the allowed schemes only, which asks for bytes without compression."""
    import requests

    session = requests.Session()
    for scheme in [scheme for scheme in session.adapters if scheme not in SCHEMES]:
        del session.adapters[scheme]
    session.headers["Accept-Encoding"] = "identity"
    return session
