"""Atomic file writes: a file is complete, or it is as it was before."""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, overload

from propkernels.utils.locks import ForkSafeLock

Pathlike = str | os.PathLike[str]

# Temporary files are called .NAME.PID-MACHINE-RANDOM.part, so that a later run can tell whether the process
# that wrote them is still there; temporary folders are called alike.
_TEMPORARY = re.compile(r"\..*\.(?P<pid>\d+)-(?P<machine>[0-9a-f]{8})-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_STEM = 40  # characters of NAME that are kept, so that the temporary name is never too long
_lock, _active = ForkSafeLock(), set[str]()  # temporary files that this process is writing


@overload
def atomic_write(path: Pathlike, *, text: Literal[False] = False) -> AbstractContextManager[IO[bytes]]: ...
@overload
def atomic_write(path: Pathlike, *, text: Literal[True]) -> AbstractContextManager[IO[str]]: ...
def atomic_write(path: Pathlike, *, text: bool = False) -> AbstractContextManager[IO[Any]]:
    """Write a file that takes the place of ``path`` once it is complete; after an error nothing has changed.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and then renamed. An
    existing file keeps its permissions, a new one gets the usual ones; a symbolic link is followed, and its
    target is replaced. Temporary files that a killed process left behind are removed.

    Parameters
    ----------
    path : str or path
    text : bool, default=False
        Whether text is written (UTF-8, line ends as they are) instead of bytes.

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
    >>> with atomic_write(Path(folder.name) / "note.txt") as stream:
    ...     _ = stream.write(b"whole")
    >>> (Path(folder.name) / "note.txt").read_bytes()
    b'whole'
    >>> folder.cleanup()
    """
    return _replacement(path, text)


@contextmanager
def _replacement(path: Pathlike, text: bool) -> Iterator[IO[Any]]:
    target, temporary = Path(path), ""
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_of(target, path)
        temporary = _reserve(target)
        with _open(temporary, mode, text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
        _flush_folder(target.parent)
    except OSError as error:
        _name_the_file(error, path, {temporary, str(target)})
        raise
    finally:
        _release(temporary)


def _mode_of(target: Path, path: Pathlike) -> int | None:
    """Permissions of the file that is replaced, or None if there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise OSError(f"{os.fspath(path)} is {kind}: it cannot be replaced by a file")
    return stat.S_IMODE(mode)


def _reserve(target: Path) -> str:
    """Name of a temporary file beside the target; those of dead processes are removed."""
    remove_stale_files(target.parent)
    stem, tail = target.name[:_LONGEST_STEM], f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    temporary = str(target.with_name(f".{stem}.{tail}.part"))
    with _lock:
        _active.add(temporary)
    return temporary


def _open(temporary: str, mode: int | None, text: bool) -> IO[Any]:
    """Create the temporary file: with the mode of the old file, or as the umask has it for new ones."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        if mode is not None:
            os.chmod(temporary, mode)
        binary = os.fdopen(handle, "wb")
    except BaseException:
        with suppress(OSError):  # Ctrl-C just after fdopen: the stream has closed the handle already
            os.close(handle)
        raise
    return io.TextIOWrapper(binary, encoding="utf-8", newline="") if text else binary


def _flush_folder(folder: Path) -> None:
    """Make the rename last through a power failure, where the system can do that."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _name_the_file(error: OSError, path: Pathlike, instead_of: set[str]) -> None:
    """Make an error name the requested file instead of the temporary one."""
    if error.errno is not None and (error.filename is None or os.fspath(error.filename) in instead_of):
        error.filename, error.filename2 = os.fspath(path), None


def _release(temporary: str) -> None:
    if temporary:
        _remove(temporary)
    with _lock:
        _active.discard(temporary)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder inside another one; it is removed in the end, or by a later run after a kill."""
    folder = _reserve(parent / "folder")
    try:
        os.mkdir(folder, 0o700)
        yield Path(folder)
    finally:
        _release(folder)


def discard_unfinished() -> None:
    """Remove the temporary files of this process: it is about to end without finishing them."""
    with _lock:
        unfinished = list(_active)
    for temporary in unfinished:
        _remove(temporary)


def _remove(temporary: str) -> None:
    if os.path.isdir(temporary) and not os.path.islink(temporary):
        shutil.rmtree(temporary, ignore_errors=True)
        return
    with suppress(OSError):
        os.unlink(temporary)


def remove_stale_files(folder: Path) -> None:
    """Remove temporary files of :func:`atomic_write` whose processes on this machine have ended."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match and match["machine"] == _machine() and not _is_written(entry.path, int(match["pid"])):
                _remove(entry.path)


def _is_written(temporary: str, pid: int) -> bool:
    """Whether a process may still be writing the file."""
    if pid == os.getpid():
        with _lock:
            return temporary in _active
    if sys.platform == "win32":
        return False  # a file that is open there cannot be removed
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _machine() -> str:
    """Where process numbers mean the same: this host, and this container on it."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return hashlib.blake2b(f"{socket.gethostname()} {namespace}".encode(), digest_size=4).hexdigest()
