"""Numbers and tables as text."""

import pytest

from propkernels._utils.text_tables import format_number, format_table


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (1.0, "+1"), (-0.000123456, "-0.0001235")])
def test_numbers_have_a_sign_and_four_digits(value, text):
    assert format_number(value) == text


def test_columns_are_aligned_and_lines_end_without_blanks():
    text = format_table(["n", "name"], [["100", "a"], ["2", "long"]], left=["name"])
    assert text.splitlines() == ["  n  name", "100  a", "  2  long"]


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        format_table(["a", "b"], [["1"]])
