"""Hash functions and table sizes of the compiled loops; ``mix_word`` is ``randomness.mix`` of one word."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.arrays import power_of_two
from propkernels._utils.jit import compiled
from propkernels._utils.randomness import FIRST_FACTOR, GOLDEN, OTHER_FACTOR, SECOND_FACTOR

__all__ = ["FIRST_FACTOR", "GOLDEN", "mix_other", "mix_word", "slots_for"]


@compiled(cache=False)
def mix_word(word: Any) -> Any:
    """Spread a 64-bit word over all words, a bijection: splitmix64, the same as ``mix(word)`` of one word."""
    z = word + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST_FACTOR
    z = (z ^ (z >> np.uint64(27))) * SECOND_FACTOR
    return z ^ (z >> np.uint64(31))


@compiled(cache=False)
def mix_other(word: Any) -> Any:
    """Spread a word in another way, so that a node and its neighbors never play the same part."""
    z = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
    z = (z ^ (z >> np.uint64(32))) * OTHER_FACTOR
    return z ^ (z >> np.uint64(32))


slots_for = compiled(cache=False)(power_of_two)  # for compiled callers; Python ones need not compile it
