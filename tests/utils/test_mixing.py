"""Mixing in machine code is mixing in numpy."""

import numpy as np
import pytest

from propkernels._utils.mixing import mix_other, mix_word, power_of_two, slots_for
from propkernels._utils.randomness import mix

pytestmark = pytest.mark.compiled
WORDS = np.concatenate([np.arange(5), 2**64 - 1 - np.arange(5, dtype=object), [2**63, 0x9E3779B97F4A7C15]])


@pytest.mark.parametrize("word", WORDS)
def test_one_word_is_mixed_alike(word):
    assert mix_word(np.uint64(int(word))) == mix(np.uint64(int(word)))


def test_different_words_stay_different():
    for mixer in (mix_word, mix_other):
        assert len({int(mixer(np.uint64(word))) for word in range(1000)}) == 1000


def test_sizes_of_tables():
    for least in (0, 1, 2, 3, 4, 5, 1023, 1024, 1025, 2**40 + 1):
        size = power_of_two(least)
        assert size == slots_for(least) >= least
        assert size & (size - 1) == 0
        assert size == 1 or size // 2 < least
