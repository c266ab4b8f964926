"""Parameters out of range, and tags: no estimator of graphs says that its input is a table."""

from __future__ import annotations

import errno
from collections.abc import Callable

import numpy as np
import pytest

import propkernels as pk
from propkernels import images
from propkernels._utils.checks import check_integer, reason_of
from propkernels.propagation import LabelImputer


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers(value: object) -> None:
    assert check_integer(value, "n", 1) == 3


@pytest.mark.parametrize("value", [3.0, "3", None, True, np.bool_(True)])
def test_what_is_not_a_whole_number(value: object) -> None:
    with pytest.raises(TypeError, match="n must be a whole number"):
        check_integer(value, "n", 1)


GRAPHS = [
    pk.PropagationKernel,
    pk.ShortestPath,
    pk.PropagationFeatures,
    pk.PropagationClassifier,
    pk.PropagationRegressor,
    pk.GraphIndex,
    LabelImputer,
]


@pytest.mark.parametrize("cls", GRAPHS, ids=lambda cls: cls.__name__)
def test_estimators_of_graphs(cls):
    tags = cls().__sklearn_tags__()
    assert not tags.input_tags.two_d_array
    assert not tags.input_tags.allow_nan
    assert not tags.input_tags.three_d_array


@pytest.mark.parametrize("cls", [images.GrayLevels, images.KMeansColors])
def test_estimators_of_images(cls):
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError("no room")])
def test_errors_of_the_machine_are_no_reason_to_remove_a_file(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error.args[-1])):
        reason_of(error)
    assert reason_of(OSError("Couldn't deserialize thrift")) == "Couldn't deserialize thrift"


@pytest.mark.parametrize(
    "call",
    [
        lambda: pk.GridDatabase(None),
        lambda: images.GrayLevels().fit(None),
        lambda: pk.datasets.load(None),
        lambda: pk.convert.from_pandas(None),
        lambda: pk.from_contacts(None),
        lambda: pk.plotting.plot_two_sample_test(None),
    ],
)
def test_messages_call_none_none(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"got None\b"):
        call()
