"""Files that are whole or not there: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file that takes the place of ``path`` when it is complete; after an error nothing has changed.

    Yields
    ------
    binary stream

    Examples
    --------
    >>> folder = tempfile.TemporaryDirectory()
    >>> with replacing(Path(folder.name) / "note.txt") as stream:
    ...     _ = stream.write(b"whole")
    >>> (Path(folder.name) / "note.txt").read_bytes()
    b'whole'
    >>> folder.cleanup()
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
