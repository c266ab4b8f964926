"""Tables of numbers in text files: any separators, read fast, each fault named by file and line."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.display import count

BLANK, NEWLINE = 32, 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS_TO_BLANKS = bytes.maketrans(b",;\t", b"   ")
LARGEST = np.iinfo(np.int64).max


def clean_text(data: bytes) -> bytes:
    """Drop a byte order mark and empty lines at the end; make every line end a newline."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(BYTE_ORDER_MARK).rstrip()


def integer_table(data: bytes, file: str, columns: int | None = None) -> NDArray[np.int64]:
    r"""Read lines of whole numbers.

    Parameters
    ----------
    data : bytes
        Contents of the file.
    file : str
        Its name, for error messages.
    columns : int, optional
        Numbers on each line; by default as many as on the first line.

    Returns
    -------
    ndarray of int64, shape (lines, columns)

    Raises
    ------
    ValueError
        If a line has another number of fields, or a field is not a whole number.

    Examples
    --------
    >>> integer_table(b"2, 1\n1,2\n", "X_A.txt")
    array([[2, 1], [1, 2]])
    """
    return _table(data, file, columns, np.dtype(np.int64))


def float_table(data: bytes, file: str, columns: int | None = None) -> NDArray[np.float64]:
    """Read lines of real numbers; as :func:`integer_table`, and "nan" is a number."""
    return _table(data, file, columns, np.dtype(np.float64))


def text_lines(data: bytes) -> list[str]:
    """Read lines of text, without the blanks around them."""
    text = clean_text(data).decode("utf-8", errors="replace")
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
    """All numbers of a text without separators, or None where something else is in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how numpy reports text that is not a number
        try:
            values: NDArray[Any] = np.fromstring(text, dtype=dtype, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return values if _in_range(values) else None


def _in_range(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite, or fit their 64 bits."""
    if values.dtype.kind == "f":
        return not np.isinf(values).any()
    return bool(values.max(initial=0) < LARGEST and values.min(initial=0) > -LARGEST)


def _is_regular(text: bytes, width: int) -> bool:
    """Whether every line has ``width`` fields: the i-th group of fields lies between two line ends."""
    characters = np.frombuffer(text, dtype=np.uint8)
    filled = characters > BLANK
    filled[1:] &= characters[:-1] <= BLANK
    starts = np.flatnonzero(filled)
    ends = np.flatnonzero(characters == NEWLINE)
    if len(starts) != (len(ends) + 1) * width:
        return False
    last_of_line, first_of_next = starts[width - 1 : -1 : width], starts[width::width]
    return bool((last_of_line < ends).all() and (first_of_next > ends).all())


def _name_the_fault(text: bytes, file: str, width: int, dtype: np.dtype[Any]) -> NoReturn:
    kind = "a whole number of 64 bits" if dtype.kind == "i" else "a finite number"
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if len(fields) != width:
            raise ValueError(f"{file}, line {number} has {count(len(fields), 'value')} instead of {width}")
        for item in fields:
            if not _is_number(item, dtype):
                value = item[:40].decode("utf-8", errors="replace")
                raise ValueError(f"{file}, line {number}: {value!r} is not {kind}")
    raise ValueError(f"{file} is not a table of numbers with {width} on each line")


def _is_number(item: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether it is a number that fits, written plainly (no underscores)."""
    try:
        value = (int if dtype.kind == "i" else float)(item.decode("ascii"))
    except ValueError:
        return False
    return b"_" not in item and (abs(value) < LARGEST if dtype.kind == "i" else not np.isinf(value))
