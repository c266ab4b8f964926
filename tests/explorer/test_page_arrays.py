"""page_arrays: packed arrays and words of codes."""

import numpy as np
import pytest

from propkernels.explorer.page_arrays import pack, smallest, words
from tests.explorer.conftest import unpacked


def test_arrays_survive_packing():
    rng = np.random.default_rng(0)
    arrays = {
        "small": rng.integers(0, 200, 7),
        "signed": rng.integers(-300, 300, 5),
        "large": rng.integers(0, 2**32, 3, dtype=np.uint64),
        "floats": rng.normal(size=4),
        "empty": np.empty(0),
    }
    for name, found in unpacked(pack(arrays)).items():
        np.testing.assert_array_equal(found, arrays[name])
    with pytest.raises(ValueError, match="32 bits"):
        smallest(np.array([2**32]))


def test_codes_are_pairs_of_words_lower_word_first():
    codes = np.array([1 + 5 * 2**32, -1])
    assert words(codes).tolist() == [1, 5, 2**32 - 1, 2**32 - 1]
