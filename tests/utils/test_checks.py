"""Parameters out of range, and tags: no estimator of graphs says that its input is a table."""

import errno

import numpy as np
import pytest

import propkernels as pk
from propkernels import images
from propkernels._utils.checks import (
    check_choice,
    check_finite,
    check_fraction,
    check_integer,
    check_nonnegative,
    check_positive,
    check_share,
    check_streams,
    check_width,
    format_number,
    reason_of,
    shown,
)


def test_whole_numbers() -> None:
    assert check_integer(np.uint8(3), "n", 1) == check_integer(3, "n", 1) == 3
    for value in (3.0, "3", None, True, np.bool_(True)):
        with pytest.raises(TypeError, match=rf"n must be a whole number, got .*{value}"):
            check_integer(value, "n", 1)


NUMBERS = {  # a value that is taken, one that is not, and the reason
    check_positive: (0.5, 0, "a finite number above 0"),
    check_width: (1e-100, 1e-101, "at least 1e-100"),
    check_fraction: (0, 1, "at least 0 and below 1"),
    check_share: (1, 1.5, "between 0 and 1"),
    check_nonnegative: (0, float("inf"), "a finite number of at least 0"),
    check_finite: (-1, float("nan"), "a finite number"),
}


@pytest.mark.parametrize("check", NUMBERS)
def test_numbers(check) -> None:
    good, bad, reason = NUMBERS[check]
    assert check(good, "x") == good
    with pytest.raises(ValueError, match=f"x must be {reason}, got {bad}"):
        check(bad, "x")
    with pytest.raises(TypeError, match="x must be a number, got True"):
        check(True, "x")
    with pytest.raises(ValueError, match=r"x must be a number that a float can hold, got 1000.*\.\.\."):
        check(10**400, "x")


def test_integers_choices_and_streams_out_of_range() -> None:
    for value, clause in ((0, "at least 1, got 0"), (10, "at most 9, got 10")):
        with pytest.raises(ValueError, match=f"n must be {clause}"):
            check_integer(value, "n", 1, 9)
    with pytest.raises(ValueError, match="x must be one of 'a', None; got 'b'"):
        check_choice("b", ("a", None), "x")
    for steps, hashes, product in ((2**20, 1, r"t_max \+ 1"), (2**10, 2**10, r"\(t_max \+ 1\) \* n_hashes")):
        with pytest.raises(ValueError, match=f"{product} must be at most 1048576, got t_max={steps}"):
            check_streams(steps, hashes)


def test_values_without_a_representation() -> None:
    class Faulty:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shown(Faulty()) == "a value of type Faulty"
    assert format_number(0.25) == "+0.25"


def test_tags_say_that_graphs_are_no_tables():
    for cls in (pk.PropagationKernel, pk.PropagationFeatures, pk.PropagationClassifier, pk.GraphIndex):
        tags = cls().__sklearn_tags__().input_tags
        assert not any((tags.two_d_array, tags.allow_nan, tags.three_d_array))


@pytest.mark.parametrize("cls", [images.GrayLevels, images.KMeansColors])
def test_estimators_of_images(cls):
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError("no room")])
def test_errors_of_the_machine_are_no_reason_to_remove_a_file(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error.args[-1])):
        reason_of(error)
    cafe = "caf\u00e9".encode("latin-1")
    with pytest.raises(UnicodeDecodeError) as caught:
        cafe.decode()
    assert reason_of(caught.value) == "byte 4 is 0xe9, which is not text in UTF-8: save it as UTF-8"
    assert reason_of(OSError("Couldn't deserialize thrift")) == "Couldn't deserialize thrift"
