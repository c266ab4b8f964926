"""Files of a TU data set: members of a zip, or files of a folder."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

MOST_MEMBERS = 10_000
MOST_BYTES = 2**33
MOST_BYTES_UNSUSPECTED = 2**26
MOST_EXPANSION = 100
# zipfile unpacks no more bytes than it is asked for of these; of bzip2 and LZMA it unpacks everything first.
BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip; refuse members that point outside, and sizes that explode.

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
        if member.compress_type not in BOUNDED or member.flag_bits & ENCRYPTED:
            raise ValueError(
                f"{path.name}: member {member.filename!r} is encrypted, or packed by another method than "
                "'stored' or 'deflated'"
            )
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
    """Read one member, and no more bytes than the directory of the zip says; its checksum is verified."""
    try:
        with archive.open(member) as stream:
            return stream.read(archive.getinfo(member).file_size + 1)
    except DAMAGE as error:
        raise ValueError(f"{path.name}: member {member} cannot be read ({error})") from None


ADJACENCY = "_A.txt"


def read_files(path: Path, name: str | None = None) -> tuple[str, dict[str, bytes]]:
    """Read all text files of a data set into memory.

    Parameters
    ----------
    path : Path
        A folder or a zip that holds ``NAME_A.txt`` and its companions, itself or in a folder inside it.
    name : str, optional
        The NAME; found by the one file that ends in ``_A.txt`` otherwise.

    Returns
    -------
    name : str
    files : dict of bytes
        Contents by kind: "A", "graph_indicator", ...; other names, such as "README", in full.
    """
    if path.is_dir():
        entries = [p.relative_to(path).as_posix() for p in [*path.glob("*.txt"), *path.glob("*/*.txt")]]
        name, chosen = choose_files(entries, name, path)
        return name, {kind: (path / entry).read_bytes() for kind, entry in chosen.items()}
    if not path.exists():
        raise FileNotFoundError(f"there is no folder or zip {path}")
    with open_archive(path) as archive:
        name, chosen = choose_files(archive.namelist(), name, path)
        return name, {kind: read_member(archive, entry, path) for kind, entry in chosen.items()}


def choose_files(entries: Iterable[str], name: str | None, path: Path) -> tuple[str, dict[str, str]]:
    """Find the one data set among the entries, and its files by kind."""
    texts = [PurePosixPath(entry) for entry in entries if _is_text(PurePosixPath(entry))]
    wanted = ADJACENCY if name is None else name + ADJACENCY
    found = [text for text in texts if (text.name == wanted if name else text.name.endswith(wanted))]
    if not found:
        raise ValueError(f"{path.name} holds no file {'NAME' if name is None else ''}{wanted}")
    if len(found) > 1:
        several = ", ".join(sorted(map(str, found)))
        raise ValueError(f"{path.name} holds several data sets ({several}): name the one to read")
    name = found[0].name.removesuffix(ADJACENCY)
    beside = [text for text in texts if text.parent == found[0].parent]
    return name, {text.stem.removeprefix(f"{name}_"): str(text) for text in _belonging(beside, name)}


def _belonging(texts: list[PurePosixPath], name: str) -> list[PurePosixPath]:
    """Files of one set, and readme files; not those of a set X_full that lies beside X."""
    names = [text.name.removesuffix(ADJACENCY) for text in texts if text.name.endswith(ADJACENCY)]
    longer = tuple(f"{other}_" for other in names if other.startswith(f"{name}_"))
    own = [text for text in texts if text.name.startswith(f"{name}_")]
    readme = [text for text in texts if "readme" in text.name.lower() and text not in own]
    return [text for text in own if not (longer and text.name.startswith(longer))] + readme


def _is_text(entry: PurePosixPath) -> bool:
    hidden = entry.name.startswith(".") or entry.parts[0] == "__MACOSX"
    return entry.suffix == ".txt" and not hidden
