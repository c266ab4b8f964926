"""Offsets, sizes and indices beside Python's own integers: accepted if, and only if, they are right.

The one gate of all flat arrays (``_utils/arrays.py``), and the constructor of databases behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

import propkernels as pk
from fuzz.cases import Case, Wrong, try_to
from fuzz.values import in_some_type, near_power, wild_offsets, wild_sizes
from propkernels._utils.arrays import MOST_THINGS, check_indices, check_offsets, check_sizes

Generator = np.random.Generator


@cache
def no_edges(n: int) -> Any:
    return sp.csr_array((n, n))


def as_integers(given: Any) -> list[int] | None:
    """The numbers of an array or list, or None where they are not whole numbers of at most 64 bits."""
    array = np.asarray(given)
    if array.dtype.kind in "iu":
        return [int(value) for value in array.tolist()]
    return [] if array.size == 0 and array.dtype.kind == "f" else None


def is_partition(values: list[int] | None, total: int) -> bool:
    return (
        bool(values) and values[0] == 0 and values[-1] == total and all(a <= b for a, b in pairwise(values))
    )


def judge(take: Callable[[], Any], is_right: bool, given: Any) -> None:
    """What is right is taken, as it is; all else is refused in one sentence."""
    try:
        take()
    except (ValueError, TypeError):
        if is_right:
            raise Wrong(f"{given!r} is right, and was refused") from None
        try_to(take)  # a sentence makes a refusal of it
    if not is_right:
        raise Wrong(f"{given!r} was taken")


def database(rng: Generator) -> None:
    n = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_offsets(rng, int(rng.integers(0, 6)), n))
    judge(lambda: pk.GraphDatabase(no_edges(n), given), is_partition(as_integers(given), n), given)


def offsets(rng: Generator) -> None:
    total = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_offsets(rng, int(rng.integers(0, 6)), total))
    judge(lambda: check_offsets(given, total, "ptr"), is_partition(as_integers(given), total), given)


def sizes(rng: Generator) -> None:
    total = int(rng.integers(0, 6))
    given = in_some_type(rng, wild_sizes(rng, int(rng.integers(0, 6)), total))
    values = as_integers(given)
    is_right = values is not None and all(size >= 0 for size in values) and sum(values) == total
    judge(lambda: check_sizes(given, "sizes", total=total), is_right and total < MOST_THINGS, given)


def indices(rng: Generator) -> None:
    length, least = int(rng.integers(0, 6)), int(rng.integers(-1, 1))
    several = [near_power(rng) if rng.random() < 0.2 else int(rng.integers(-1, 7)) for _ in range(3)]
    given = in_some_type(rng, several[: int(rng.integers(0, 4))])
    values = as_integers(given)
    is_right = values is not None and all(least <= value < length for value in values)
    judge(lambda: check_indices(given, length, "places", least=least), is_right, given)


CHECKS: tuple[Callable[[Generator], None], ...] = (database, offsets, sizes, indices)


def draw(seed: int) -> Case:
    return Case("pointers", seed, CHECKS[seed % len(CHECKS)].__name__)


def run(case: Case) -> None:
    CHECKS[case.seed % len(CHECKS)](np.random.Generator(np.random.PCG64([case.seed, 36])))
