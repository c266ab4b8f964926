"""Hash functions and sizes of hash tables for compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.arrays import power_of_two
from propkernels._utils.jit import compiled
from propkernels._utils.randomness import FIRST_FACTOR, GOLDEN, OTHER_FACTOR, SECOND_FACTOR

__all__ = ["FIRST_FACTOR", "GOLDEN", "mix_other", "mix_word", "slot_bits", "slots_for"]


@compiled(cache=False)
def mix_word(word: Any) -> Any:
    """Return the splitmix64 hash of a word, a bijection; equal to ``randomness.mix(word)``.

    Parameters
    ----------
    word : uint64
    """
    z = word + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST_FACTOR
    z = (z ^ (z >> np.uint64(27))) * SECOND_FACTOR
    return z ^ (z >> np.uint64(31))


@compiled(cache=False)
def mix_other(word: Any) -> Any:
    """Return a hash of a word, independent of ``mix_word``, to tell a node from its neighbors.

    Parameters
    ----------
    word : uint64
    """
    z = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
    z = (z ^ (z >> np.uint64(32))) * OTHER_FACTOR
    return z ^ (z >> np.uint64(32))


@compiled(cache=False)
def slot_bits(code: Any) -> Any:
    """Return the bits that choose the slot of a code in a hash table.

    A product moves information to the high bits, and the shift brings it down to where slots are read.
    """
    word = np.uint64(code) * GOLDEN
    return word ^ (word >> np.uint64(32))


slots_for = compiled(cache=False)(power_of_two)  # power_of_two for compiled callers
