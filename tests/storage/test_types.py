"""Checks by annotations: all of them are understood, by what they are and not by how they are written."""

from collections.abc import Callable, Hashable
from typing import Literal, NamedTuple, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

import propkernels as pk
from propkernels.storage.classes import check_of, class_of, declared_types, fitted_types, known_names

Renamed = NDArray[np.float64]


@pytest.mark.parametrize("name", known_names())
def test_every_annotation_of_a_savable_class_is_understood(name):
    cls = class_of(name)
    for field, annotation in (declared_types(cls) | fitted_types(cls)).items():
        assert callable(check_of(annotation)), field


@pytest.mark.parametrize("annotation", [set[int], "int", object(), type[int]])
def test_an_unknown_annotation_is_an_error(annotation):
    with pytest.raises(TypeError):
        check_of(annotation)


class Walks(Protocol):
    def codes(self): ...


class Pair(NamedTuple):
    weights: Renamed
    name: str | None


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [1, np.int8(1)], [True, 1.0, "1", None]),
        (float, [1, 1.5, np.float32(1)], [False, "1", None]),
        (bool, [True, np.bool_(False)], [0, None]),
        (str | None, ["", None], [b"", 0]),
        (Literal["a", 1] | None, ["a", 1, None], ["b", True, np.ones(1), ["a"]]),
        (Renamed, [np.ones(2), np.ones((1, 1))], [np.ones(2, dtype=int), [1.0], None]),
        (list[NDArray[np.int64]], [[], [np.arange(2)]], [[np.ones(2)], (np.arange(2),)]),
        (tuple[Hashable, ...], [(), ("a", (1, 2))], [([],), ["a"]]),
        (tuple[str, int], [("a", 1)], [("a",), ("a", 1, 1), (1, "a")]),
        (dict[int, str], [{}, {1: "a"}], [{"a": "a"}, []]),
        (Callable[[int], int], [], [len, "len"]),
        (Pair, [Pair(np.ones(1), None)], [(np.ones(1), None)]),
        (Walks, [], [pk.PropagationKernel(), "codes"]),
    ],
)
def test_checks(annotation, good, bad):
    check = check_of(annotation)
    assert all(check(value) for value in good)
    assert not any(check(value) for value in bad)
