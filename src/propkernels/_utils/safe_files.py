"""Safe files: atomic writes, and reading of regular files only.

A write either completes or leaves the old file unchanged, and a pipe or device is never waited for.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile

Pathlike = str | os.PathLike[str]

_LONGEST_STEM = 40  # characters of the name of a file in that of its temporary file
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# Errors of the machine, which do not depend on the contents of a file.
SYSTEM_ERRORS = NO_SPACE | {
    errno.EACCES, errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.EIO, errno.EMFILE, errno.ENFILE,
    errno.ENOBUFS, errno.ENODEV, errno.ENOLCK, errno.ENOMEM, errno.ENXIO, errno.EPERM, errno.ESTALE,
    errno.ETIMEDOUT,
}  # fmt: skip


def is_system_error(error: BaseException) -> bool:
    """Whether an error comes from the machine (memory, descriptors, permissions, disk), not a file's bytes.

    Examples
    --------
    >>> is_system_error(OSError(errno.EMFILE, "Too many open files")), is_system_error(ValueError("cut off"))
    (True, False)
    """
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in SYSTEM_ERRORS)


@contextmanager
def atomic_write(path: Pathlike, *, text: bool = False, follow_links: bool = True) -> Iterator[IO[Any]]:
    r"""Open a stream that replaces ``path`` when it is complete; after an error, nothing has changed.

    Bytes are written to a temporary file in the same folder, which is flushed to disk and renamed. An
    existing file keeps its permissions, a new file gets default ones. A killed process leaves its temporary
    file, ``.NAME.RANDOM.part``.

    Parameters
    ----------
    path : str or path
    text : bool, default=False
        Whether to write text (UTF-8, line ends unchanged) instead of bytes. Lone surrogates, which UTF-8
        cannot encode, are written as escapes: ``\udce9``.
    follow_links : bool, default=True
        Whether to replace the target of a symbolic link, for names given by users. False raises OSError for
        links, for names in output folders.

    Yields
    ------
    binary or text stream

    Raises
    ------
    OSError
        If the file cannot be written, or if ``path`` is a folder, a device or a pipe; the error names
        ``path``.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with atomic_write(f"{folder.name}/note.txt") as stream:
    ...     _ = stream.write(b"whole")
    >>> read_regular(f"{folder.name}/note.txt")
    b'whole'
    >>> folder.cleanup()
    """
    folder, name = os.path.split(os.path.realpath(path) if follow_links else os.fspath(path))
    place = os.path.join(os.path.realpath(folder), name)
    temporary = os.path.join(os.path.dirname(place), f".{name[:_LONGEST_STEM]}.{secrets.token_hex(8)}.part")
    with _naming(path, place, temporary):
        mode = _mode_of(place, path)
        try:
            # a new file has the permissions that the umask leaves, others keep those that they have
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _PLAIN
            begin = 0o666 if mode is None else 0o600
            with open(temporary, "xb", opener=lambda file, _: os.open(file, flags, begin)) as binary:
                if mode is not None:
                    os.chmod(temporary, mode)
                stream: Any = binary
                if text:
                    stream = io.TextIOWrapper(binary, "utf-8", errors="backslashreplace", newline="")
                yield stream
                stream.flush()
                os.fsync(binary.fileno())
            os.replace(temporary, place)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        if sys.platform != "win32":  # make the name of the file durable, too
            with suppress(OSError):
                handle = os.open(os.path.dirname(place), os.O_RDONLY | _PLAIN)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)


@contextmanager
def _naming(path: Pathlike, *instead_of: str) -> Iterator[None]:
    """Make OSErrors name the requested file instead of internal names or none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or error.filename in instead_of):
            del error.filename2  # None would be printed
            error.filename = os.fspath(path)
        raise


def _mode_of(place: str, path: Pathlike) -> int | None:
    """Return the permissions of an existing file, or None if missing; raise OSError if it is not regular."""
    try:
        mode = os.stat(place, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        is_link, is_folder = stat.S_ISLNK(mode), stat.S_ISDIR(mode)
        kind = "a symbolic link" if is_link else "a folder" if is_folder else "not a regular file"
        raise OSError(f"{os.fspath(path)} is {kind}: it cannot be replaced by a file")
    return stat.S_IMODE(mode)


def open_regular(path: Pathlike, inside: Pathlike | None = None) -> io.BufferedReader:
    """Open a regular file for reading; raise OSError for pipes and devices instead of waiting.

    Nothing else in the library opens a file to read it.

    Parameters
    ----------
    path : str or path
    inside : str or path, optional
        Folder that the file was found in: links that lead out of it are not followed.

    Raises
    ------
    OSError
        If the file cannot be opened, or is not a regular one.
    ValueError
        If it is a link that leads out of the folder.
    """
    if inside is not None:
        top = os.path.realpath(inside)
        if os.path.commonpath([top, os.path.realpath(path)]) != top:
            raise ValueError(f"{os.fspath(path)} is a link that leads out of the folder {os.fspath(inside)}")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _PLAIN)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(f"{os.fspath(path)} is not a regular file: a pipe or a device is not read")
        return os.fdopen(handle, "rb")
    except BaseException:
        with suppress(OSError):
            os.close(handle)
        raise


def read_regular(path: Pathlike, inside: Pathlike | None = None, most: int | None = None) -> bytes:
    """Return the bytes of a regular file, which has at most so many; see :func:`open_regular`."""
    with open_regular(path, inside) as stream:
        if most is not None and os.fstat(stream.fileno()).st_size > most:
            raise ValueError(f"{os.fspath(path)} is larger than the {most:,} bytes allowed")
        return stream.read()


def text_of(path: Pathlike) -> str:
    """Return the text (UTF-8) of a regular file."""
    return read_regular(path).decode("utf-8-sig")


def packaged_text(*parts: str) -> str:
    """Return the text of a file of this package."""
    return resources.files("propkernels").joinpath(*parts).read_text(encoding="utf-8")


@contextmanager
def zip_writer(stream: IO[bytes], compression: int = ZIP_STORED) -> Iterator[ZipFile]:
    """Open a zip archive for writing; errors inside the block, and Ctrl-C, are raised unchanged.

    ``ZipFile`` finishes the archive even after an error, and raises a second error for the open member, which
    hides the first.
    """
    archive = ZipFile(stream, "w", compression)
    try:
        yield archive
        archive.close()
    except BaseException:
        archive.fp = None  # no further writes, not even at garbage collection
        raise
