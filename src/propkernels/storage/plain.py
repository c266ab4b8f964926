"""Plain values that JSON has no word for: each is written under a tag of its own."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple


class Codec(NamedTuple):
    """How values of one type are written and read."""

    tag: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


CODECS: dict[type, Codec] = {
    bytes: Codec(
        "bytes", lambda b: base64.b64encode(b).decode("ascii"), lambda s: base64.b64decode(s, validate=True)
    ),
    complex: Codec(
        "complex", lambda c: [c.real.hex(), c.imag.hex()], lambda p: complex(*map(float.fromhex, p))
    ),
    range: Codec("range", lambda r: [r.start, r.stop, r.step], lambda p: range(*p)),
    Fraction: Codec("fraction", lambda f: [f.numerator, f.denominator], lambda p: Fraction(*p)),
    Decimal: Codec("decimal", str, Decimal),
    datetime: Codec(
        "datetime",
        lambda d: [d.isoformat(), d.fold],
        lambda p: datetime.fromisoformat(p[0]).replace(fold=p[1]),
    ),
    date: Codec("date", date.isoformat, date.fromisoformat),
}
BY_TAG = {codec.tag: codec for codec in CODECS.values()}


def write_float(value: float) -> Any:
    """A float as itself; what is not finite, by name.

    Examples
    --------
    >>> write_float(0.1), write_float(float("-inf"))
    (0.1, {'float': '-inf'})
    """
    return value if math.isfinite(value) else {"float": repr(value)}


def read_float(text: Any) -> float:
    """Read what ``write_float`` named."""
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r} is no float")
    return float(text)
