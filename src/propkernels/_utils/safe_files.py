"""Safe files: atomic writes, locks and removal of stale temporary files.

A write either completes or leaves the old file unchanged. A lock is held by one process at a time, and the
system releases it when the process ends. Names in an output folder never follow symbolic links, and must be
regular files.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import shutil
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, Self, overload
from zipfile import ZIP_STORED, ZipFile

from propkernels._utils.locks import ForkSafeLock

Pathlike = str | os.PathLike[str]

# Temporary files and folders are named .NAME.PID-MACHINE-RANDOM.part, so that a later run can check whether
# their process is still running.
_TEMPORARY = re.compile(r"\..*\.(?P<pid>\d+)-(?P<machine>[0-9a-f]{8})-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_STEM = 40  # characters of NAME in a temporary name
_OWNER = b"process "  # first bytes of a lock that is not empty
_OWNER_WIDTH = 200  # bytes of the owner's line, padded: locks are overwritten, not truncated
_BYTE_OF_LOCK = 2**20  # position of the byte that Windows locks; never read
_lock, _active = ForkSafeLock(), set[str]()  # temporary files of this process
_guard, _held = ForkSafeLock(), set[str]()  # locks held by threads of this process

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe returns at once
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_HANDLES = {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd

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


class _Folder:
    """Folder that is held open if the system supports it, so that renaming its path has no effect.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._handle: int | None = None
        if _HAS_HANDLES:
            flags = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY) | _PLAIN
            self._handle = os.open(path, flags)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def full(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return os.path.join(self.path, name)

    def _place(self, name: str) -> str:
        return self.full(name) if self._handle is None else name

    def stat(self, name: str) -> os.stat_result | None:
        """Return the status of a file or link, without following it; None if missing."""
        try:
            return os.stat(self._place(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file without following links; return its descriptor."""
        return os.open(self._place(name), flags | _NO_FOLLOW | _PLAIN, mode, dir_fd=self._handle)

    def replace(self, old: str, new: str) -> None:
        """Rename a file over another one, durably (fsync of the folder)."""
        handles = {"src_dir_fd": self._handle, "dst_dir_fd": self._handle}
        os.replace(self._place(old), self._place(new), **handles)
        if sys.platform != "win32":
            with suppress(OSError):
                handle = os.open(self._place("."), os.O_RDONLY | _PLAIN, dir_fd=self._handle)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)

    def remove(self, name: str) -> None:
        """Remove a file or link; the target of a link is kept."""
        with suppress(OSError):
            os.unlink(self._place(name), dir_fd=self._handle)

    def has(self, name: str, handle: int) -> bool:
        """Whether an open file is still the file of this name."""
        status = self.stat(name)
        return status is not None and os.path.samestat(status, os.fstat(handle))


def _kind(mode: int) -> str | None:
    """Return a description of a file that is not regular; None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return "a symbolic link, which may lead out of its folder"
    return "a folder" if stat.S_ISDIR(mode) else "not a regular file"


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
    >>> with atomic_write(Path(folder.name) / "note.txt") as stream:
    ...     _ = stream.write(b"whole")
    >>> (Path(folder.name) / "note.txt").read_bytes()
    b'whole'
    >>> folder.cleanup()
    """
    return _replacement(path, text, follow_links)


@contextmanager
def _replacement(path: Pathlike, text: bool, follow_links: bool) -> Iterator[IO[Any]]:
    parent, name = os.path.split(os.path.realpath(path) if follow_links else os.fspath(path))
    parent = os.path.realpath(parent)
    temporary = _temporary_name(name)
    internal = (parent, name, temporary, os.path.join(parent, name), os.path.join(parent, temporary))
    with _naming(path, *internal), _Folder(parent) as folder:
        mode = _mode_of(folder, name, path)
        with _writing(folder, temporary):
            with _open(folder, temporary, mode, text) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            folder.replace(temporary, name)


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


def _mode_of(folder: _Folder, name: str, path: Pathlike) -> int | None:
    """Return the permissions of an existing file, or None if missing; raise OSError if it is not regular."""
    status = folder.stat(name)
    if status is None:
        return None
    kind = _kind(status.st_mode)
    if kind is not None:
        raise OSError(f"{os.fspath(path)} is {kind}: it cannot be replaced by a file")
    return stat.S_IMODE(status.st_mode)


def _temporary_name(name: str) -> str:
    tail = f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    return f".{name[:_LONGEST_STEM]}.{tail}.part"


@contextmanager
def _writing(folder: _Folder, temporary: str) -> Iterator[None]:
    """Register a temporary file of this process inside the block, and remove it at the end."""
    remove_stale_files(folder.path)
    with _lock:
        _active.add(folder.full(temporary))
    try:
        yield
    finally:
        folder.remove(temporary)
        with _lock:
            _active.discard(folder.full(temporary))


def _open(folder: _Folder, temporary: str, mode: int | None, text: bool) -> IO[Any]:
    """Create the temporary file, with the mode of the old file or (None) the umask's default."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    handle = folder.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        if mode is not None:
            os.chmod(handle if os.chmod in os.supports_fd else folder.full(temporary), mode)
        binary = os.fdopen(handle, "wb")
    except BaseException:
        with suppress(OSError):  # Ctrl-C just after fdopen: the stream already closed the handle
            os.close(handle)
        raise
    if not text:
        return binary
    return io.TextIOWrapper(binary, encoding="utf-8", errors="backslashreplace", newline="")


def open_regular(path: Pathlike) -> io.BufferedReader:
    """Open a regular file for reading; raise OSError for pipes and devices instead of waiting.

    Raises
    ------
    OSError
        If the file cannot be opened, or is not a regular one.
    """
    handle = os.open(path, os.O_RDONLY | _NO_WAIT | _PLAIN)
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


def read_regular(path: Pathlike) -> bytes:
    """Return the bytes of a regular file; see :func:`open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


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


def write_arrays(stream: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays to a zip archive in the format of ``numpy.savez``."""
    import numpy as np

    with zip_writer(stream) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


@contextmanager
def locked(path: Pathlike) -> Iterator[None]:
    """Hold the lock of a folder (``.lock`` in it), or of a file (``.NAME.lock`` beside it).

    The lock is a regular file, removed at the end. A lock left by a killed process is taken over.

    Parameters
    ----------
    path : str or path
        A folder must exist; a file may be missing.

    Raises
    ------
    BlockingIOError
        If another run holds the lock; the message names its process.
    OSError
        If the lock is a link, not a regular file, or not written by a run; nothing is changed.
    """
    parent, name = _lock_of(os.path.realpath(path))
    key = os.path.join(parent, name)
    with _guard:
        if key in _held:
            raise BlockingIOError(f"another run of this process is writing into {path}: wait for it to end")
        _held.add(key)
    try:
        with _Folder(parent) as folder:
            handle = _take_lock(folder, name, path)
            try:
                yield
            finally:
                if folder.has(name, handle):
                    folder.remove(name)
                os.close(handle)  # releases the lock
    finally:
        with _guard:
            _held.discard(key)


def _lock_of(path: str) -> tuple[str, str]:
    if os.path.isdir(path):
        return path, ".lock"
    parent, name = os.path.split(path)
    if len(os.fsencode(name)) > _OWNER_WIDTH:
        name = hashlib.blake2b(os.fsencode(name), digest_size=16).hexdigest()
    return parent, f".{name}.lock"


def _take_lock(folder: _Folder, name: str, path: Pathlike) -> int:
    """Open and acquire the lock; retry if it was removed in between. Return its descriptor."""
    full = folder.full(name)
    while True:
        _check_lock(folder.stat(name), full)
        with _naming(full, name):
            handle = folder.open(name, os.O_RDWR | os.O_CREAT | _NO_WAIT)
        try:
            _check_lock(os.fstat(handle), full)
            owner = os.read(handle, _OWNER_WIDTH)
            if owner and not owner.startswith(_OWNER):
                raise OSError(f"{full} is not a lock that a run wrote: remove it, or choose another folder")
            with _naming(full):
                is_taken = _acquire(handle)
            if not is_taken:
                who = owner.decode("utf-8", "replace").strip() or "another process"
                raise BlockingIOError(f"another run is writing into {path} ({who}): wait for it to end")
            if folder.has(name, handle):
                _sign(handle, full)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _check_lock(status: os.stat_result | None, full: str) -> None:
    if status is None:
        return
    kind = _kind(status.st_mode) or ("a file with a second name" if status.st_nlink > 1 else None)
    if kind is not None:
        raise OSError(f"{full} is {kind}, and not a lock: remove it, or choose another folder")


def _acquire(handle: int) -> bool:
    """Try to acquire the lock without waiting; record locks are not inherited by worker processes."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, _BYTE_OF_LOCK, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def _sign(handle: int, full: str) -> None:
    """Overwrite the lock with process id and host."""
    text = f"process {os.getpid()} on {socket.gethostname()}".encode()[: _OWNER_WIDTH - 1]
    with _naming(full):
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, text.ljust(_OWNER_WIDTH - 1) + b"\n")


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new temporary folder, removed at the end, or by a later run if this process is killed."""
    name = _temporary_name("folder")
    with _Folder(os.path.realpath(parent)) as folder, _writing(folder, name):
        path = Path(folder.full(name))
        try:
            os.mkdir(path, 0o700)
            yield path
        finally:
            _remove(str(path))


def discard_unfinished() -> None:
    """Remove all temporary files of this process, before it exits."""
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


def remove_stale_files(folder: Pathlike) -> None:
    """Remove temporary files of ended processes on this machine from a folder."""
    with suppress(OSError), os.scandir(os.path.realpath(folder)) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match and match["machine"] == _machine() and not _is_written(entry.path, int(match["pid"])):
                _remove(entry.path)


def _is_written(temporary: str, pid: int) -> bool:
    """Whether the process may still be writing the temporary file."""
    if pid == os.getpid():
        with _lock:
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
    """Return a hash of host, boot and container: process ids are comparable only within these."""
    names = [socket.gethostname()]
    with suppress(OSError):
        names.append(os.readlink("/proc/self/ns/pid"))
    with suppress(OSError):
        names.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    return hashlib.blake2b(" ".join(names).encode(), digest_size=4).hexdigest()


def _forget_parent() -> None:
    """Clear temporary files and locks in a forked child: they belong to the parent."""
    _active.clear()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
