"""One run per folder: a lock that the system releases when the process ends, however it ends."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from propkernels.utils.locks import ForkSafeLock

NAME = ".lock"
_guard, _held = ForkSafeLock(), set[str]()  # the system's locks do not tell threads of one process apart


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder.

    Parameters
    ----------
    folder : Path
        It must be there.

    Raises
    ------
    BlockingIOError
        If another run holds it; the message says which.
    """
    key = os.path.realpath(folder)
    with _guard:
        if key in _held:
            raise BlockingIOError(f"another run of this process is writing into {folder}: wait for it to end")
        _held.add(key)
    try:
        with open(folder / NAME, "a+", encoding="utf-8") as stream:
            if not _take(stream):
                stream.seek(0)
                who = stream.read(200).strip() or "another process"
                raise BlockingIOError(f"another run is writing into {folder} ({who}): wait for it to end")
            stream.truncate(0)
            stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            stream.flush()
            yield  # closing the file releases the lock
    finally:
        with _guard:
            _held.discard(key)


def _take(stream: IO[str]) -> bool:
    """Take the lock without waiting; record locks are not inherited by worker processes."""
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(2**20)  # a byte that nobody reads
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            stream.seek(0)
        else:
            import fcntl

            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
