"""Compiled parser of tables of numbers, for parts of a text that threads read side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled

_BLANK, _TAB, _COMMA, _SEMICOLON, _NEWLINE = 32, 9, 44, 59, 10
_ZERO, _NINE, _MINUS, _PLUS, _POINT = 48, 57, 45, 43, 46
_LOWER_E, _UPPER_E = 101, 69
_FULL = 10**17  # numbers from this one on take no further digit: 18 digits fit 64 bits
EXACT = 2**53  # whole numbers up to this one are floats
LARGEST_POWER = 22  # powers of ten up to this one are floats


@compiled(cache=False)
def _is_separator(character: int) -> bool:
    return character in (_BLANK, _COMMA, _NEWLINE, _TAB, _SEMICOLON)


@compiled(cache=False)
def _digits(text: Any, at: int, end: int, value: Any) -> Any:
    """Read digits from position ``at``; return the number that they append to ``value``, and where they end.

    A number that becomes too large is -1.
    """
    while at < end and _ZERO <= text[at] <= _NINE:
        if value >= _FULL:
            return np.int64(-1), at
        value = 10 * value + (np.int64(text[at]) - _ZERO)
        at += 1
    return value, at


@compiled
def parse_integers(text: Any, begin: int, end: int, width: int, values: Any) -> bool:
    """Write the whole numbers of lines to ``values``; return whether each line has ``width`` of them.

    Parameters
    ----------
    text : ndarray of uint8
    begin, end : int
        Part of the text: whole lines.
    width : int
    values : ndarray of int64
        Output: one number per field, line by line.

    Returns
    -------
    bool
        False for fields other than "-" (optional) and at most 18 digits, and for other numbers of fields.
    """
    filled, of_line, at = 0, 0, begin
    while at < end:
        character = text[at]
        if _is_separator(character):
            at += 1
            if character == _NEWLINE:
                if of_line != width:
                    return False
                of_line = 0
            continue
        is_negative = character == _MINUS
        start = at + is_negative
        value, at = _digits(text, start, end, np.int64(0))
        if at == start or value < 0 or filled == len(values):
            return False
        if at < end and not _is_separator(text[at]):
            return False
        values[filled] = -value if is_negative else value
        filled += 1
        of_line += 1
    return filled == len(values) and of_line in (0, width)


@compiled
def parse_floats(text: Any, begin: int, end: int, width: int, powers: Any, values: Any) -> bool:
    """Write the real numbers of lines to ``values``, correctly rounded; as :func:`parse_integers`.

    A decimal m * 10^e with m up to 2^53 and e between -22 and 22 is one product or quotient of floats, and
    so correctly rounded [1]_. Return False for any other field, such as "nan" or one with 17 digits.

    Parameters
    ----------
    text, begin, end, width
        As in :func:`parse_integers`.
    powers : ndarray of float64, (23,)
        10^0, 10^1, ..., 10^22.
    values : ndarray of float64
        Output.

    References
    ----------
    .. [1] W. D. Clinger (1990). How to read floating point numbers accurately. ACM SIGPLAN Notices 25 (6),
       92-101. doi:10.1145/93548.93557.
    """
    filled, of_line, at = 0, 0, begin
    while at < end:
        character = text[at]
        if _is_separator(character):
            at += 1
            if character == _NEWLINE:
                if of_line != width:
                    return False
                of_line = 0
            continue
        is_negative = character == _MINUS
        start = at + is_negative
        value, at = _digits(text, start, end, np.int64(0))
        n_digits, exponent = at - start, 0
        if value >= 0 and at < end and text[at] == _POINT:
            start = at + 1
            value, at = _digits(text, start, end, value)
            n_digits += at - start
            exponent = start - at
        if n_digits == 0 or value < 0 or value > EXACT or filled == len(values):
            return False
        if at < end and (text[at] == _LOWER_E or text[at] == _UPPER_E):
            at += 1
            sign = -1 if at < end and text[at] == _MINUS else 1
            start = at + (at < end and (text[at] == _MINUS or text[at] == _PLUS))
            power, at = _digits(text, start, end, np.int64(0))
            if at == start or power < 0:
                return False
            exponent += sign * power
        if (at < end and not _is_separator(text[at])) or abs(exponent) > LARGEST_POWER:
            return False
        number = np.float64(value)
        number = number * powers[exponent] if exponent >= 0 else number / powers[-exponent]
        values[filled] = -number if is_negative else number
        filled += 1
        of_line += 1
    return filled == len(values) and of_line in (0, width)
