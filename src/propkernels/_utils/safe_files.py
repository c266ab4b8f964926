"""Safe files: atomic writes, and reading of regular files only.

A write either completes or leaves the old file unchanged, and a pipe or device is never waited for.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import IO, Any, Literal, overload
from zipfile import ZIP_STORED, ZipFile

Pathlike = str | os.PathLike[str]

# Temporary files are named .NAME.PID-MACHINE-RANDOM.part, so that a later run can check whether their process
# is still running.
_TEMPORARY = re.compile(r"\..*\.(?P<pid>\d+)-(?P<machine>[0-9a-f]{8})-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_STEM = 40  # characters of NAME in a temporary name
_active = set[str]()  # temporary files of this process

_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# Errors of the machine, which do not depend on the contents of a file.
SYSTEM_ERRORS = NO_SPACE | {
    getattr(errno, name)
    for name in (
        *("EACCES", "EAGAIN", "EBUSY", "EINTR", "EIO", "EMFILE", "ENFILE", "ENOBUFS", "ENODEV", "ENOLCK"),
        *("ENOMEM", "ENXIO", "EPERM", "ESTALE", "ETIMEDOUT"),
    )
    if hasattr(errno, name)
}


def is_system_error(error: BaseException) -> bool:
    """Whether an error comes from the machine (memory, descriptors, permissions, disk), not a file's bytes.

    Examples
    --------
    >>> is_system_error(OSError(errno.EMFILE, "Too many open files")), is_system_error(ValueError("cut off"))
    (True, False)
    """
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in SYSTEM_ERRORS)


@overload
def atomic_write(
    path: Pathlike, *, text: Literal[False] = False, follow_links: bool = True
) -> AbstractContextManager[IO[bytes]]: ...
@overload
def atomic_write(
    path: Pathlike, *, text: Literal[True], follow_links: bool = True
) -> AbstractContextManager[IO[str]]: ...
def atomic_write(
    path: Pathlike, *, text: bool = False, follow_links: bool = True
) -> AbstractContextManager[IO[Any]]:
    r"""Open a stream that replaces ``path`` when it is complete; after an error, nothing has changed.

    Bytes are written to a temporary file in the same folder, which is flushed to disk and renamed. An
    existing file keeps its permissions, a new file gets default ones. Temporary files of killed processes are
    removed.

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
    return _replacement(path, text, follow_links)


@contextmanager
def _replacement(path: Pathlike, text: bool, follow_links: bool) -> Iterator[IO[Any]]:
    folder, name = os.path.split(os.path.realpath(path) if follow_links else os.fspath(path))
    folder = os.path.realpath(folder)
    unique = f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    place = os.path.join(folder, name)
    temporary = os.path.join(folder, f".{name[:_LONGEST_STEM]}.{unique}.part")
    with _naming(path, place, temporary):
        mode = _mode_of(place, path)
        _remove_stale_files(folder)
        _active.add(temporary)
        try:
            with _open(temporary, mode, text) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, place)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
            _active.discard(temporary)
        _make_durable(folder)


def _make_durable(folder: str) -> None:
    """Flush the names in a folder to the disk; Windows cannot."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | _PLAIN)
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


def _open(temporary: str, mode: int | None, text: bool) -> IO[Any]:
    """Create the temporary file, with the mode of the old file or (None) the umask's default."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _PLAIN
    handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        if mode is not None:
            os.chmod(temporary, mode)
        binary = os.fdopen(handle, "wb")
    except BaseException:
        with suppress(OSError):  # Ctrl-C just after fdopen: the stream already closed the handle
            os.close(handle)
        raise
    if not text:
        return binary
    return io.TextIOWrapper(binary, encoding="utf-8", errors="backslashreplace", newline="")


def _remove_stale_files(folder: str) -> None:
    """Remove temporary files of ended processes on this machine from a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match and match["machine"] == _machine() and not _is_written(entry.path, int(match["pid"])):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_written(temporary: str, pid: int) -> bool:
    """Whether the process may still be writing the temporary file."""
    if pid == os.getpid():
        return temporary in _active
    if sys.platform == "win32":
        return False  # Windows does not remove open files
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _machine() -> str:
    """Return a hash of host and container: process ids are comparable only within these."""
    names = [socket.gethostname()]
    with suppress(OSError):
        names.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.blake2b(" ".join(names).encode(), digest_size=4).hexdigest()


def discard_unfinished() -> None:
    """Remove all temporary files of this process, before it exits; a forked process has none."""
    for temporary in _active.copy():
        match = _TEMPORARY.fullmatch(os.path.basename(temporary))
        if match and int(match["pid"]) == os.getpid():
            with suppress(OSError):
                os.unlink(temporary)


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
    return files("propkernels").joinpath(*parts).read_text(encoding="utf-8")


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
