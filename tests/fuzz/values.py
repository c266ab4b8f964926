"""Whole numbers at and around powers of two, and rows of them that pass a check which wraps.

Offsets are dangerous where each step looks right in 64 bits although the sum of all steps does not fit: the
differences of ``[0, 2**63 - 1, -2, 3]`` are all positive once they have wrapped.
"""

import numpy as np

POWERS = tuple(2**k for k in range(65))
NEAR_POWERS = tuple(sorted({sign * (p + d) for p in POWERS for d in (-2, -1, 0, 1, 2) for sign in (1, -1)}))
WORD = 2**64


def near_power(rng):
    """A whole number within two of a power of two up to 2**64, of either sign."""
    return NEAR_POWERS[int(rng.integers(len(NEAR_POWERS)))]


def wrapped(value):
    """The number that 64 bits with a sign keep of another."""
    return (value + 2**63) % WORD - 2**63


def as_kept(value, dtype):
    """A whole number as an array of this type keeps it, high bits cut off."""
    if dtype.kind == "b":
        return bool(value & 1)
    if dtype.kind not in "iu":
        return float(value)
    bits = 8 * dtype.itemsize
    kept = value % 2**bits
    return kept - 2**bits if dtype.kind == "i" and kept >= 2 ** (bits - 1) else kept


def wrapping_sizes(rng, n, total):
    """Sizes, none negative, whose sum is ``total`` in 64 bits and far from it otherwise; n is at least 3."""
    while True:
        sizes = [abs(near_power(rng)) % 2**63 for _ in range(n - 1)]
        last = (total - sum(sizes)) % WORD
        if last < 2**63 and sum(sizes) + last != total:
            sizes.insert(int(rng.integers(n)), last)
            return sizes
        if rng.random() < 0.2:
            half = [2**63 - 1, 2**63 - 1, total + 2]
            return half + [0] * (n - 3)


def wild_sizes(rng, n, total):
    """Sizes that lie: they wrap, one is near a power of two, or there are too many or too few."""
    sizes = right_sizes(rng, n, total)
    style = int(rng.integers(5))
    if style <= 1 and n >= 3:
        return wrapping_sizes(rng, n, total)
    if style == 2 and n:
        sizes[int(rng.integers(n))] = near_power(rng)
    elif style == 3:
        sizes = [wrapped(near_power(rng)) for _ in sizes]
    elif style == 4:
        sizes = sizes[: int(rng.integers(n + 1))]
    return sizes


def right_sizes(rng, n, total):
    """Sizes that add up to ``total``."""
    total = min(max(total, 0), 2**40)
    cuts = sorted(int(c) for c in rng.integers(0, total + 1, size=max(n - 1, 0)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)][:n]


def wild_offsets(rng, n, total):
    """Offsets of n runs that should end at ``total``: wrapped, falling, shifted, short; sometimes right."""
    sizes = wild_sizes(rng, n, total) if rng.random() < 0.9 else right_sizes(rng, n, total)
    offsets = [0]
    for size in sizes:
        offsets.append(wrapped(offsets[-1] + size))
    style = int(rng.integers(6))
    if style == 0:
        offsets[int(rng.integers(len(offsets)))] = wrapped(near_power(rng))
    elif style == 1:
        offsets[0] = wrapped(near_power(rng))
    elif style == 2:
        rng.shuffle(offsets)
    return offsets


def in_some_type(rng, values):
    """The same numbers as an array of a random type, which may cut them, or as a plain list."""
    style = int(rng.integers(12))
    if style == 0:
        return values
    if style == 1:
        return np.array(values, dtype=object)
    name = ("i8", "i8", "i8", "i8", "i8", "u8", "i4", "f8", ">i8", "i2")[style - 2]
    dtype = np.dtype(name)
    return np.array([as_kept(value, dtype) for value in values], dtype=dtype)


def wild_array(rng, array):
    """The same array with a few entries near powers of two, or, where it rises, with offsets that wrap."""
    if array.size == 0 or array.dtype.kind not in "iuf":
        return array
    flat = array.copy().ravel()
    is_offsets = array.ndim == 1 and len(flat) > 3 and bool((flat[1:] >= flat[:-1]).all())
    if is_offsets and rng.random() < 0.5:
        values = wild_offsets(rng, len(flat) - 1, int(flat[-1]))
        values = (values + [0] * len(flat))[: len(flat)]
        return np.array([as_kept(value, array.dtype) for value in values], dtype=array.dtype)
    for at in rng.integers(len(flat), size=int(rng.integers(1, 4))):
        flat[at] = as_kept(near_power(rng), array.dtype)
    return flat.reshape(array.shape)
