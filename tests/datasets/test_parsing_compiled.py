"""The compiled parser of tables against Python's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets.parsing_compiled import LARGEST_POWER, parse_floats, parse_integers

pytestmark = pytest.mark.compiled
POWERS = 10.0 ** np.arange(LARGEST_POWER + 1)
SEPARATORS = (" ", ",", ", ", ";", "\t", " ,\t")


def characters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def integers(text: str, width: int, n_lines: int) -> tuple[bool, list[int]]:
    values = np.zeros(n_lines * width, dtype=np.int64)
    return parse_integers(characters(text), 0, len(text), width, values), values.tolist()


def floats(text: str, width: int, n_lines: int) -> tuple[bool, list[float]]:
    values = np.zeros(n_lines * width)
    return parse_floats(characters(text), 0, len(text), width, POWERS, values), values.tolist()


@given(
    st.lists(st.tuples(*[st.integers(-(10**18) + 1, 10**18 - 1)] * 3), min_size=1),
    st.sampled_from(SEPARATORS),
)
def test_integers_are_those_of_python(rows, separator):
    text = "\n".join(separator.join(map(str, row)) for row in rows)
    assert integers(text, 3, len(rows)) == (True, [value for row in rows for value in row])


@given(
    st.lists(st.tuples(st.integers(-(2**53), 2**53), st.integers(0, 15), st.integers(-22, 22)), min_size=1)
)
def test_floats_are_those_of_python(numbers):
    texts = []
    for mantissa, n_decimals, exponent in numbers:
        digits = str(abs(mantissa)).rjust(n_decimals + 1, "0")
        point = len(digits) - n_decimals
        sign = "-" if mantissa < 0 else ""
        power = f"e{exponent}" if abs(exponent - n_decimals) <= LARGEST_POWER else ""
        texts.append(f"{sign}{digits[:point]}.{digits[point:]}{power}")
    is_plain, values = floats("\n".join(texts), 1, len(texts))
    assert is_plain
    assert values == [float(text) for text in texts]


def test_forms_of_floats():
    texts = ["0.1", "-.5", "7.", "-0", "1E5", "2e+3", "25e-2", "0000.0001"]
    is_plain, values = floats(" ".join(texts), len(texts), 1)
    assert is_plain
    assert values == [float(text) for text in texts]
    assert np.signbit(values[3])


@pytest.mark.parametrize(
    "text", ["1 x", "1", "1 2 3", "1 2.0", "1 +2", "- 2", "1 1_0", "1 2\n\n3 4", "1 9" + 18 * "9"]
)
def test_other_fields_are_left_to_the_careful_reader(text):
    assert not integers(text, 2, 1)[0]


@pytest.mark.parametrize(
    "text", ["nan", "inf", "1.5.2", ".", "e5", "1e", "1e999", "0.12345678901234567890", "--1"]
)
def test_other_floats_are_left_to_the_careful_reader(text):
    assert not floats(text, 1, 1)[0]


def test_a_part_of_a_text_is_whole_lines():
    text, values = "1 2\n3 4\n5 6", np.zeros(2, dtype=np.int64)
    assert parse_integers(characters(text), 4, 8, 2, values)
    assert values.tolist() == [3, 4]
