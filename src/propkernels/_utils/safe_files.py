"""Files: created, locked, replaced and removed in one way.

A file is complete, or it is as it was before. One process at a time holds a lock, which the system releases
when the process ends, however it ends. Names inside a folder are looked up in that folder: a symbolic link is
refused where it would lead out of it, and so is all that is not a regular file.
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

# Temporary files are called .NAME.PID-MACHINE-RANDOM.part, so that a later run can tell whether the process
# that wrote them is still there; temporary folders are called alike.
_TEMPORARY = re.compile(r"\..*\.(?P<pid>\d+)-(?P<machine>[0-9a-f]{8})-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_STEM = 40  # characters of NAME that are kept, so that the temporary name is never too long
_OWNER = b"process "  # a lock is empty, or begins with this
_OWNER_WIDTH = 200  # bytes; a shorter line is filled up, so that a lock is never truncated
_MOST_DESCRIPTORS = 2**16  # that are made use of, where the system allows more or any number
_BYTE_OF_LOCK = 2**20  # that Windows locks: nobody reads it
_lock, _active = ForkSafeLock(), set[str]()  # temporary files that this process is writing
_guard, _held = ForkSafeLock(), set[str]()  # locks of this process, also against its own threads

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe returns at once
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_HANDLES = {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# What the machine lacks or forbids: such an error says nothing about the contents of a file.
SYSTEM_ERRORS = NO_SPACE | {
    getattr(errno, name)
    for name in (
        *("EACCES", "EAGAIN", "EBUSY", "EINTR", "EIO", "EMFILE", "ENFILE", "ENOBUFS", "ENODEV", "ENOLCK"),
        *("ENOMEM", "ENXIO", "EPERM", "ESTALE", "ETIMEDOUT"),
    )
    if hasattr(errno, name)
}


def is_system_error(error: BaseException) -> bool:
    """Whether an error is about the machine (memory, descriptors, rights, disk), not about a file's bytes.

    Examples
    --------
    >>> is_system_error(OSError(errno.EMFILE, "Too many open files")), is_system_error(ValueError("cut off"))
    (True, False)
    """
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in SYSTEM_ERRORS)


class _Folder:
    """A folder that is held open where the system can: its names lead into it, whatever takes its path.

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
        """Path of a file in the folder."""
        return os.path.join(self.path, name)

    def _place(self, name: str) -> str:
        return self.full(name) if self._handle is None else name

    def stat(self, name: str) -> os.stat_result | None:
        """What the system says of a file, or of a link itself; None if it is missing."""
        try:
            return os.stat(self._place(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file; never through a link."""
        return os.open(self._place(name), flags | _NO_FOLLOW | _PLAIN, mode, dir_fd=self._handle)

    def replace(self, old: str, new: str) -> None:
        """Rename a file over another one, and make that last through a power failure."""
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
        """Remove a name; what it linked to stays."""
        with suppress(OSError):
            os.unlink(self._place(name), dir_fd=self._handle)

    def has(self, name: str, handle: int) -> bool:
        """Whether an open file is the one that has a name now."""
        found = self.stat(name)
        return found is not None and os.path.samestat(found, os.fstat(handle))


def _kind(mode: int) -> str | None:
    """What a file is that is not a regular one, in words; None if it is one."""
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
    r"""Write a file that takes the place of ``path`` once it is complete; after an error nothing has changed.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and then renamed. An
    existing file keeps its permissions, a new one gets the usual ones. Temporary files that a killed process
    left behind are removed.

    Parameters
    ----------
    path : str or path
    text : bool, default=False
        Whether text is written (UTF-8, line ends as they are) instead of bytes. Halves of surrogate pairs,
        which UTF-8 does not have, are written as they are in Python: ``\udce9``.
    follow_links : bool, default=True
        Whether the target of a symbolic link is replaced, as suits a name that a user gave. False, for names
        inside a folder of results: a link is refused.

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
    own = (parent, name, temporary, os.path.join(parent, name), os.path.join(parent, temporary))
    with _naming(path, *own), _Folder(parent) as folder:
        mode = _mode_of(folder, name, path)
        with _writing(folder, temporary):
            with _open(folder, temporary, mode, text) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            folder.replace(temporary, name)


@contextmanager
def _naming(path: Pathlike, *instead_of: str) -> Iterator[None]:
    """Make errors of the system name the requested file instead of another one, or of none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or error.filename in instead_of):
            del error.filename2  # None would be printed
            error.filename = os.fspath(path)
        raise


def _mode_of(folder: _Folder, name: str, path: Pathlike) -> int | None:
    """Permissions of the file that is replaced, or None if there is none."""
    found = folder.stat(name)
    if found is None:
        return None
    kind = _kind(found.st_mode)
    if kind is not None:
        raise OSError(f"{os.fspath(path)} is {kind}: it cannot be replaced by a file")
    return stat.S_IMODE(found.st_mode)


def _temporary_name(name: str) -> str:
    tail = f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    return f".{name[:_LONGEST_STEM]}.{tail}.part"


@contextmanager
def _writing(folder: _Folder, temporary: str) -> Iterator[None]:
    """Note that this process is writing a temporary file, and remove what is left of it in the end."""
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
    """Create the temporary file: with the mode of the old file, or as the umask has it for new ones."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    handle = folder.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        if mode is not None:
            os.chmod(handle if os.chmod in os.supports_fd else folder.full(temporary), mode)
        binary = os.fdopen(handle, "wb")
    except BaseException:
        with suppress(OSError):  # Ctrl-C just after fdopen: the stream has closed the handle already
            os.close(handle)
        raise
    if not text:
        return binary
    return io.TextIOWrapper(binary, encoding="utf-8", errors="backslashreplace", newline="")


def open_regular(path: Pathlike) -> io.BufferedReader:
    """Open a regular file for reading; a pipe or a device is refused at once instead of being waited for.

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


def n_descriptors() -> int:
    """Number of files that this process may have open at a time."""
    try:
        import resource
    except ImportError:  # not on Windows
        return _MOST_DESCRIPTORS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_DESCRIPTORS if soft < 0 else min(soft, _MOST_DESCRIPTORS)


def inner_folder(parent: Pathlike, name: str) -> Path:
    """Return a folder inside another one, made where it is missing; a link to elsewhere is refused."""
    os.makedirs(parent, exist_ok=True)
    path = Path(parent) / name
    with suppress(FileExistsError):
        os.mkdir(path)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise OSError(f"{path} is a link or a file instead of a folder: remove it, or choose another folder")
    return path


@contextmanager
def zip_writer(stream: IO[bytes], compression: int = ZIP_STORED) -> Iterator[ZipFile]:
    """Write an archive to a stream; an error inside, or Ctrl-C, comes out as it is.

    ``ZipFile`` by itself finishes the archive whatever happened, and then complains of the member that was
    being written, which hides the error.
    """
    archive = ZipFile(stream, "w", compression)
    try:
        yield archive
        archive.close()
    except BaseException:
        archive.fp = None  # nothing is written any more, not even when it is collected
        raise


def write_arrays(stream: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays to an archive as ``numpy.savez`` does, which ``numpy.load`` reads."""
    import numpy as np

    with zip_writer(stream) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


@contextmanager
def locked(path: Pathlike) -> Iterator[None]:
    """Hold the lock of a folder (``.lock`` in it), or of a file (``.NAME.lock`` beside it).

    The lock is a regular file, which is removed in the end. One that a killed process left behind is taken.

    Parameters
    ----------
    path : str or path
        A folder must be there; a file need not.

    Raises
    ------
    BlockingIOError
        If another run holds it; the message says which.
    OSError
        If the lock is a link, not a regular file, or a file that no run wrote; nothing is changed then.
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
    """Open the lock and take it; one that was removed between the two steps is made again."""
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


def _check_lock(found: os.stat_result | None, full: str) -> None:
    if found is None:
        return
    kind = _kind(found.st_mode) or ("a file with a second name" if found.st_nlink > 1 else None)
    if kind is not None:
        raise OSError(f"{full} is {kind}, and not a lock: remove it, or choose another folder")


def _acquire(handle: int) -> bool:
    """Take the lock without waiting; record locks are not inherited by worker processes."""
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
    """Write who holds the lock over what is there."""
    text = f"process {os.getpid()} on {socket.gethostname()}".encode()[: _OWNER_WIDTH - 1]
    with _naming(full):
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, text.ljust(_OWNER_WIDTH - 1) + b"\n")


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder inside another one; it is removed in the end, or by a later run after a kill."""
    name = _temporary_name("folder")
    with _Folder(os.path.realpath(parent)) as folder, _writing(folder, name):
        path = Path(folder.full(name))
        try:
            os.mkdir(path, 0o700)
            yield path
        finally:
            _remove(str(path))


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


def remove_stale_files(folder: Pathlike) -> None:
    """Remove temporary files of :func:`atomic_write` whose processes on this machine have ended."""
    with suppress(OSError), os.scandir(os.path.realpath(folder)) as entries:
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
    """Where process numbers mean the same: this host since it was started, and this container on it."""
    known = [socket.gethostname()]
    with suppress(OSError):
        known.append(os.readlink("/proc/self/ns/pid"))
    with suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    return hashlib.blake2b(" ".join(known).encode(), digest_size=4).hexdigest()


def _forget_parent() -> None:
    """Begin anew in a forked process: unfinished files and locks are the parent's."""
    _active.clear()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
