"""Counter-based random numbers: pure functions of (seed, stream, key).

There is no generator state, so numbers do not depend on the order of graphs, labels or iterations, nor on the
process or machine.
"""

from __future__ import annotations

import hashlib
import numbers
import re
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from propkernels._utils.checks import shown

# splitmix64 (Steele, Lea and Flood 2014): increment (golden ratio) and two multipliers
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
OTHER_FACTOR = np.uint64(0xD6E8FEB86659FD93)  # of a second, independent hash function
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")  # addresses differ between processes


def draw_seed(random_state: Any) -> int:
    """Return a 64-bit seed for scikit-learn's ``random_state``.

    An integer gives a fixed seed; None gives a random seed; a RandomState is advanced.
    """
    try:
        generator = check_random_state(random_state)
    except ValueError:
        kinds = "a whole number from 0 to 2**32 - 1, a RandomState, or None"
        raise ValueError(f"random_state must be {kinds}; got {shown(random_state)}") from None
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    high, low = generator.randint(0, 2**31 - 1, size=2)
    return (int(high) << 31) | int(low)


def label_keys(values: Iterable[Hashable]) -> NDArray[np.uint64]:
    """Return 64-bit keys of label values, equal in every process and on every machine.

    Raises
    ------
    TypeError
        If a label is an object whose ``repr`` contains its address.
    """
    digests = bytearray()
    for value in values:
        digests += hashlib.blake2b(_describe(value), digest_size=8).digest()
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _describe(value: Hashable) -> bytes:
    """Return bytes that identify a label, including its type."""
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, numbers.Number):
        return b"n" + _describe_number(value).encode()
    if isinstance(value, (tuple, frozenset)):
        parts = []
        for part in value:
            parts.append(hashlib.blake2b(_describe(part), digest_size=16).digest())
        return b"t" + b"".join(parts) if isinstance(value, tuple) else b"f" + b"".join(sorted(parts))
    text = repr(value)
    if _ADDRESS.search(text):
        raise TypeError(f"label {text} has no stable description: use numbers, strings or tuples as labels")
    return b"o" + f"{type(value).__module__}.{type(value).__qualname__} {text}".encode()


def _describe_number(value: Any) -> str:
    """Return a text that is equal for equal numbers of any type: they are the same label."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        if value.imag != 0:
            return repr(value)
        value = value.real
    try:
        ratio = value.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):
        return repr(float(value))
    # Python converts at most 4,300 decimal digits.
    return "/".join(str(part) if part.bit_length() < 14_000 else hex(part) for part in ratio)


def mix(*words: Any) -> NDArray[np.uint64]:
    """Return 64-bit hashes of integers (broadcast against each other), by splitmix64."""
    state: Any = np.uint64(0)
    with np.errstate(over="ignore"):
        for word in words:
            number = np.asarray(word % 2**64 if isinstance(word, int) else word)
            z = (state ^ number.astype(np.uint64)) + GOLDEN
            z = (z ^ (z >> np.uint64(30))) * FIRST_FACTOR
            z = (z ^ (z >> np.uint64(27))) * SECOND_FACTOR
            state = z ^ (z >> np.uint64(31))
    return np.asarray(state)


def uniform(*words: Any) -> NDArray[np.float64]:
    """Return uniform numbers in the open interval (0, 1), one per hash of the words."""
    return ((mix(*words) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def cauchy(*words: Any) -> NDArray[np.float64]:
    """Return standard Cauchy numbers (1-stable)."""
    return np.tan(np.pi * (uniform(*words) - 0.5))


def gaussian(*words: Any) -> NDArray[np.float64]:
    """Return standard normal numbers (2-stable)."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform(*words)))
