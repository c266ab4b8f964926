"""Zips from elsewhere: looked at before anything is read, read in memory, never extracted."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

MOST_MEMBERS = 10_000
MOST_BYTES = 2**33
MOST_BYTES_UNSUSPECTED = 2**26
MOST_EXPANSION = 100
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip and refuse it where a member points outside or its size explodes.

    Parameters
    ----------
    path : Path
        The zip.

    Returns
    -------
    zipfile.ZipFile
        To be closed by the caller.

    Raises
    ------
    ValueError
        If it is not a zip, is damaged, or could do harm; nothing has been unpacked then.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise ValueError(f"{path.name} is not a zip file, or it is damaged ({error})") from None
    try:
        check_members(archive.infolist(), path)
    except ValueError:
        archive.close()
        raise
    return archive


def check_members(members: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """Check names and sizes of all members, from the directory of the zip alone."""
    members = list(members)
    for member in members:
        if points_outside(member.filename):
            raise ValueError(f"{path.name} has a member that points outside its folder: {member.filename!r}")
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"{path.name} has {len(members)} members, more than the {MOST_MEMBERS} allowed")
    total, packed = sum(member.file_size for member in members), path.stat().st_size
    if total > MOST_BYTES:
        raise ValueError(f"{path.name} would grow to {total} bytes, more than the {MOST_BYTES} allowed")
    if total > max(MOST_BYTES_UNSUSPECTED, MOST_EXPANSION * packed):
        raise ValueError(
            f"{path.name} would grow from {packed} to {total} bytes, "
            f"more than the {MOST_EXPANSION} times its size that are allowed"
        )


def points_outside(member: str) -> bool:
    """Whether a member's name is absolute, has a drive letter or climbs up.

    Examples
    --------
    >>> [points_outside(name) for name in ("X/X_A.txt", "../X_A.txt", "/etc/X", "C:X")]
    [False, True, True, True]
    """
    name = member.replace("\\", "/")
    return name.startswith("/") or bool(re.match("[A-Za-z]:", name)) or ".." in name.split("/")


def read_member(archive: zipfile.ZipFile, member: str, path: Path) -> bytes:
    """Read one member; its checksum is verified on the way."""
    try:
        return archive.read(member)
    except DAMAGE as error:
        raise ValueError(f"{path.name}: member {member} cannot be read ({error})") from None
