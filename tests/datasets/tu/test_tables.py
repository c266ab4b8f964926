from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets.tu.tables import float_table, integer_table, text_lines

EXPECTED = np.array([[8, 1], [-2, 30]])
INTEGERS = st.integers(-(2**63) + 2, 2**63 - 2)


@pytest.mark.parametrize(
    "text",
    [
        b"8,1\n-2,30\n",
        b"8, 1\n-2, 30",
        b"  8 ,1  \n -2\t30  \n\n\n",
        b"8;1\r\n-2;30\r\n",
        b"8 1\r-2 30\r",
        b"\xef\xbb\xbf8,1,\n-2,30,\n",
    ],
    ids=["commas", "no newline at the end", "blanks", "windows", "old mac", "byte order mark"],
)
def test_any_separators_and_line_ends(text: bytes) -> None:
    np.testing.assert_array_equal(integer_table(text, "X.txt"), EXPECTED)
    np.testing.assert_array_equal(float_table(text, "X.txt"), EXPECTED)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"  \r\n"])
def test_an_empty_file_is_an_empty_table(text: bytes) -> None:
    assert integer_table(text, "X.txt", columns=2).shape == (0, 2)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(INTEGERS, min_size=n, max_size=n), min_size=1)))
def test_integers_come_back(rows: list[list[int]]) -> None:
    text = "\n".join(", ".join(map(str, row)) for row in rows)
    assert integer_table(text.encode(), "X.txt").tolist() == rows


@given(st.lists(st.floats(allow_infinity=False), min_size=1))
def test_floats_come_back_to_the_last_bit(values: list[float]) -> None:
    text = "\n".join(map(repr, values))
    np.testing.assert_array_equal(float_table(text.encode(), "X.txt")[:, 0], values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1,2\n3\n", "X.txt, line 2 has 1 value instead of 2"),
        (b"1\n2,3,4\n", "X.txt, line 2 has 3 values instead of 1"),
        (b"1,2\n\n3,4\n", "X.txt, line 2 has 0 values instead of 2"),
        (b"\n1\n", "X.txt, line 1 has 0 values instead of 1"),
        (b"1,2\n3,x\n", "X.txt, line 2: 'x' is not a whole number of 64 bits"),
        (b"1\n1.5\n", "X.txt, line 2: '1.5' is not a whole number of 64 bits"),
        (b"1\n3-4\n", "X.txt, line 2: '3-4' is not a whole number"),
        (b"1\n1_0\n", "X.txt, line 2: '1_0' is not a whole number"),
        (b"1\n9223372036854775808\n", "line 2: '9223372036854775808' is not a whole number"),
        (b"1\n-99999999999999999999\n", "line 2: '-99999999999999999999' is not a whole number"),
        (b"1\n2\x003\n", "X.txt, line 2: '2\\x003' is not a whole number"),
    ],
)
def test_a_fault_is_named_by_file_and_line(text: bytes, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        integer_table(text, "X.txt")
    assert message in str(caught.value)


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999", "1.2.3", "?", "0x10"])
def test_what_is_no_finite_number_is_named(value: str) -> None:
    with pytest.raises(ValueError, match=r"X\.txt, line 3: .* is not a finite number"):
        float_table(f"1\n2\n{value}\n4".encode(), "X.txt")


def test_lines_with_the_right_number_of_fields_in_all_but_not_each() -> None:
    with pytest.raises(ValueError, match="line 1 has 1 value instead of 2"):
        integer_table(b"1\n2,3,4\n", "X.txt", columns=2)


def test_text_lines() -> None:
    assert text_lines("a b  \r\n\r\nα\n\n".encode()) == ["a b", "", "α"]
    assert text_lines(b"\n") == []
