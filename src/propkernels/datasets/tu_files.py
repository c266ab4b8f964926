"""Files of a TU data set: members of a zip or folder, and their tables of numbers."""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import reason_of
from propkernels._utils.parallel import run_threads
from propkernels._utils.safe_files import open_regular, read_regular
from propkernels.graphs.container import count

MOST_MEMBERS = 10_000
MOST_BYTES = 2**33
MOST_BYTES_UNSUSPECTED = 2**26
MOST_EXPANSION = 100
# With these methods zipfile unpacks only as many bytes as requested; with bzip2 and LZMA it unpacks all.
BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; raise ValueError for members that point outside and for excessive sizes.

    Parameters
    ----------
    path : Path
        Path of the zip.

    Yields
    ------
    zipfile.ZipFile

    Raises
    ------
    ValueError
        If the file is not a zip, is damaged, or is unsafe; this is found before unpacking.
    """
    with open_regular(path) as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
            text = f"{path.name} is not a zip file, or it is damaged ({reason_of(error)})"
            raise ValueError(text) from None
        check_members(archive.infolist(), path)
        yield archive


def check_members(members: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """Validate names and sizes of all members by the directory of the zip."""
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
        raise ValueError(f"{path.name}: member {member} cannot be read ({reason_of(error)})") from None


ADJACENCY = "_A.txt"


def read_files(path: Path, name: str | None = None) -> tuple[str, dict[str, bytes]]:
    """Return the name of a data set and the contents of all its text files.

    Parameters
    ----------
    path : Path
        Folder or zip with ``NAME_A.txt`` and the other files, at the top or in a folder inside it.
    name : str, optional
        The NAME; by default that of the only file that ends in ``_A.txt``.

    Returns
    -------
    name : str
    files : dict of bytes
        Contents by kind: "A", "graph_indicator", ...; other files, such as "README", by full name.
    """
    if path.is_dir():
        entries = [p.relative_to(path).as_posix() for p in [*path.glob("*.txt"), *path.glob("*/*.txt")]]
        name, chosen = choose_files(entries, name, path)
        return name, {kind: read_regular(path / entry, path, MOST_BYTES) for kind, entry in chosen.items()}
    if not path.exists():
        raise FileNotFoundError(f"the folder or zip {path} does not exist")
    with open_archive(path) as archive:
        name, chosen = choose_files(archive.namelist(), name, path)
        largest_first = sorted(chosen.values(), key=lambda entry: -archive.getinfo(entry).file_size)

    def unpacked(entry: str) -> bytes:
        with open_archive(path) as own:  # threads share no archive
            return read_member(own, entry, path)

    found = dict(zip(largest_first, run_threads(unpacked, largest_first), strict=True))
    return name, {kind: found[entry] for kind, entry in chosen.items()}


def choose_files(entries: Iterable[str], name: str | None, path: Path) -> tuple[str, dict[str, str]]:
    """Return the name of the only data set among the entries, and its files by kind."""
    own_names = {PurePosixPath(entry): entry for entry in entries}  # "./X" is X
    texts = [text for text in own_names if _is_text(text)]
    wanted = ADJACENCY if name is None else name + ADJACENCY
    found = [text for text in texts if (text.name == wanted if name else text.name.endswith(wanted))]
    if not found:
        raise ValueError(f"{path.name} holds no file {'NAME' if name is None else ''}{wanted}")
    if len(found) > 1:
        several = ", ".join(sorted(map(str, found)))
        raise ValueError(f"{path.name} holds several data sets ({several}): name the one to read")
    name = found[0].name.removesuffix(ADJACENCY)
    beside = [text for text in texts if text.parent == found[0].parent]
    chosen = _belonging(beside, name)
    return name, {text.stem.removeprefix(f"{name}_"): own_names[text] for text in chosen}


def _belonging(texts: list[PurePosixPath], name: str) -> list[PurePosixPath]:
    """Return the files of a set and readme files, without files of another set NAME_full."""
    names = [text.name.removesuffix(ADJACENCY) for text in texts if text.name.endswith(ADJACENCY)]
    longer = tuple(f"{other}_" for other in names if other.startswith(f"{name}_"))
    own = [text for text in texts if text.name.startswith(f"{name}_")]
    readme = [text for text in texts if "readme" in text.name.lower() and text not in own]
    return [text for text in own if not (longer and text.name.startswith(longer))] + readme


def _is_text(entry: PurePosixPath) -> bool:
    hidden = entry.name.startswith(".") or entry.parts[:1] == ("__MACOSX",)
    return entry.suffix == ".txt" and not hidden


BLANK, NEWLINE = 32, 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS_TO_BLANKS = bytes.maketrans(b",;\t", b"   ")
LARGEST = np.iinfo(np.int64).max


def clean_text(data: bytes) -> bytes:
    """Return text without byte order mark and trailing empty lines, with newlines as line ends."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(BYTE_ORDER_MARK).rstrip()


def integer_table(data: bytes, file: str, columns: int | None = None) -> NDArray[np.int64]:
    r"""Return a table of whole numbers, one row per line.

    Parameters
    ----------
    data : bytes
        Contents of the file.
    file : str
        Name of the file, for error messages.
    columns : int, optional
        Number of values on each line; by default that of the first line.

    Returns
    -------
    ndarray of int64, shape (lines, columns)

    Raises
    ------
    ValueError
        If a line has a different number of fields, or a field is not a whole number.

    Examples
    --------
    >>> integer_table(b"2, 1\n1,2\n", "X_A.txt")
    array([[2, 1], [1, 2]])
    """
    return _table(data, file, columns, np.dtype(np.int64))


def float_table(data: bytes, file: str) -> NDArray[np.float64]:
    """Return a table of real numbers, one row per line; like :func:`integer_table`, "nan" allowed."""
    return _table(data, file, None, np.dtype(np.float64))


def text_lines(data: bytes, file: str) -> list[str]:
    """Return lines of text, stripped of blanks; raise ValueError for bytes that are not UTF-8."""
    try:
        text = clean_text(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} cannot be read: {reason_of(error)}") from None
    return [line.strip() for line in text.split("\n")] if text else []


def _table(data: bytes, file: str, columns: int | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    text = clean_text(data).translate(SEPARATORS_TO_BLANKS).rstrip()
    if not text:
        return np.empty((0, columns or 1), dtype=dtype)
    width = columns or max(1, len(text.split(b"\n", 1)[0].split()))
    n_lines = text.count(b"\n") + 1
    values = _numbers(text, dtype)
    if values is None or len(values) != n_lines * width or not _is_regular(text, width):
        _name_the_fault(text, file, width, dtype)
    return values.reshape(n_lines, width)


def _numbers(text: bytes, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return all numbers of a text without separators, or None if it contains anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's report of text that is not a number
        try:
            values: NDArray[Any] = np.fromstring(text, dtype=dtype, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return values if _in_range(values) else None


def _in_range(values: NDArray[Any]) -> bool:
    """Return whether all numbers are finite (floats) or within 64 bits (integers)."""
    if values.dtype.kind == "f":
        return not np.isinf(values).any()
    return bool(values.max(initial=0) < LARGEST and values.min(initial=0) > -LARGEST)


def _is_regular(text: bytes, width: int) -> bool:
    """Return whether every line of a text with ``width`` fields per line on average has so many."""
    characters = np.frombuffer(text, dtype=np.uint8)
    gaps = characters[characters <= BLANK]
    line_ends = gaps[width - 1 :: width]
    if (len(gaps) + 1) % width == 0 and len(line_ends) == np.count_nonzero(gaps == NEWLINE):
        return bool((line_ends == NEWLINE).all())  # one character between fields
    filled = characters > BLANK
    filled[1:] &= characters[:-1] <= BLANK
    starts = np.flatnonzero(filled)
    ends = np.flatnonzero(characters == NEWLINE)
    if len(starts) != (len(ends) + 1) * width:
        return False
    # line i ends after the last field of group i and before the first field of group i + 1
    last_of_line, first_of_next = starts[width - 1 : -1 : width], starts[width::width]
    return bool((last_of_line < ends).all() and (first_of_next > ends).all())


def _name_the_fault(text: bytes, file: str, width: int, dtype: np.dtype[Any]) -> NoReturn:
    kind = "a whole number of 64 bits" if dtype.kind == "i" else "a finite number"
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if len(fields) != width:
            over_time = file.endswith("_node_labels.txt") and len(fields) % 2 == width % 2 == 0
            hint = " (labels over time are read by datasets.read_temporal)" if over_time else ""
            raise ValueError(
                f"{file}, line {number} has {count(len(fields), 'value')} instead of {width}{hint}"
            )
        for item in fields:
            if not _is_number(item, dtype):
                value = item[:40].decode("utf-8", errors="replace")
                raise ValueError(f"{file}, line {number}: {value!r} is not {kind}")
    raise ValueError(f"{file} is not a table of numbers with {width} on each line")


def _is_number(item: bytes, dtype: np.dtype[Any]) -> bool:
    """Return whether a field is a number within range, written without underscores."""
    try:
        value = (int if dtype.kind == "i" else float)(item.decode("ascii"))
    except ValueError:
        return False
    return b"_" not in item and (abs(value) < LARGEST if dtype.kind == "i" else not np.isinf(value))
