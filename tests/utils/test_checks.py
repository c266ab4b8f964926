"""Parameters out of range, and tags: no estimator of graphs says that its input is a table."""

import errno

import numpy as np
import pytest

import propkernels as pk
from propkernels import images
from propkernels._utils.checks import check_integer, reason_of


def test_whole_numbers() -> None:
    assert check_integer(np.uint8(3), "n", 1) == check_integer(3, "n", 1) == 3
    for value in (3.0, "3", None, True, np.bool_(True)):
        with pytest.raises(TypeError, match=rf"n must be a whole number, got .*{value}"):
            check_integer(value, "n", 1)


def test_tags_say_that_graphs_are_no_tables():
    for cls in (pk.PropagationKernel, pk.PropagationFeatures, pk.PropagationClassifier, pk.GraphIndex):
        tags = cls().__sklearn_tags__().input_tags
        assert not any((tags.two_d_array, tags.allow_nan, tags.three_d_array))


@pytest.mark.parametrize("cls", [images.GrayLevels, images.KMeansColors])
def test_estimators_of_images(cls):
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array


def test_messages_call_none_none() -> None:
    fits = images.GrayLevels().fit, pk.GridDatabase, pk.datasets.load, pk.from_pandas, pk.from_contacts
    for call in (*fits, pk.plotting.plot_two_sample_test):
        with pytest.raises(TypeError, match=r"got None\b"):
            call(None)


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError("no room")])
def test_errors_of_the_machine_are_no_reason_to_remove_a_file(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error.args[-1])):
        reason_of(error)
    assert reason_of(OSError("Couldn't deserialize thrift")) == "Couldn't deserialize thrift"
