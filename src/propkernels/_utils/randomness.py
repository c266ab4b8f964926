"""Counter-based randomness: numbers that are pure functions of (seed, stream, key).

No generator is advanced, so nothing depends on the order in which graphs, labels or iterations are met:
a label never seen before, another process and another machine all get the same numbers.
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

# splitmix64 (Steele, Lea and Flood 2014): the golden ratio's increment and two multipliers
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
OTHER_FACTOR = np.uint64(0xD6E8FEB86659FD93)  # of another mixer, where two independent ones are needed
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")  # another one in each process


def draw_seed(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into one 64-bit seed.

    An integer gives the same seed each time; None gives a fresh one; a RandomState is advanced.
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
    """Map label values to 64-bit keys that are the same in every process and on every machine.

    Raises
    ------
    TypeError
        If a label is an object without a stable description of itself.
    """
    digests = [hashlib.blake2b(_describe(value), digest_size=8).digest() for value in values]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _describe(value: Hashable) -> bytes:
    """Bytes that tell one label from another, types included."""
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, numbers.Number):
        return b"n" + _describe_number(value).encode()
    if isinstance(value, (tuple, frozenset)):
        parts = [hashlib.blake2b(_describe(part), digest_size=16).digest() for part in value]
        return b"t" + b"".join(parts) if isinstance(value, tuple) else b"f" + b"".join(sorted(parts))
    text = repr(value)
    if _ADDRESS.search(text):
        raise TypeError(f"label {text} has no stable description: use numbers, strings or tuples as labels")
    return b"o" + f"{type(value).__module__}.{type(value).__qualname__} {text}".encode()


def _describe_number(value: Any) -> str:
    """Numbers that compare equal are one label, so whatever their types they have one description."""
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
    # Python refuses to write more than 4,300 decimal digits.
    return "/".join(str(part) if part.bit_length() < 14_000 else hex(part) for part in ratio)


def mix(*words: Any) -> NDArray[np.uint64]:
    """Mix integers (broadcast against each other) into well-spread 64-bit words, splitmix64 fashion."""
    state = np.uint64(0)
    with np.errstate(over="ignore"):
        for word in words:
            state = _finalize((state ^ _as_word(word)) + GOLDEN)
    return np.asarray(state)


def _as_word(word: Any) -> NDArray[np.uint64]:
    if isinstance(word, int):
        word = word % 2**64
    return np.asarray(word).astype(np.uint64)


def _finalize(z: NDArray[np.uint64]) -> Any:
    z = (z ^ (z >> np.uint64(30))) * FIRST_FACTOR
    z = (z ^ (z >> np.uint64(27))) * SECOND_FACTOR
    return z ^ (z >> np.uint64(31))


def uniform(*words: Any) -> NDArray[np.float64]:
    """Uniform numbers in the open interval (0, 1), one for each mixed word."""
    return ((mix(*words) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def cauchy(*words: Any) -> NDArray[np.float64]:
    """Standard Cauchy numbers, 1-stable."""
    return np.tan(np.pi * (uniform(*words) - 0.5))


def gaussian(*words: Any) -> NDArray[np.float64]:
    """Standard normal numbers, 2-stable."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform(*words)))
