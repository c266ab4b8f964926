"""What a file may hold: annotations, whole numbers that point somewhere, objects whose parts fit."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.stored import ANY_NUMBER
from propkernels.kernels import AttributeKernel, LabelHistogram, LabelHistogramFeatures
from propkernels.storage.classes import (
    SAVABLE,
    always_learned,
    check_object,
    check_of,
    class_of,
    declared_types,
    fitted_types,
    float_arrays,
    is_estimator,
    marks,
    pointers,
)
from tests.storage.test_safety import GRAPHS, forged, load_bytes, parts_of, to_file

Renamed = NDArray[np.float64]


@pytest.mark.parametrize("name", SAVABLE)
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


INTEGERS = [np.ones(2, dtype=kind) for kind in (np.int32, np.int64, np.uint64)]


def takes_integers(annotation):
    """Whether an array of integers, or a list of them, passes a check that not every array passes."""
    check = check_of(annotation)
    others = np.array(["text"]), ["text"], np.ones(2, dtype=np.float32)
    takes = any(check(sample) for array in INTEGERS for sample in (array, [array]))
    return takes and not any(map(check, others))


def fields_of_whole_numbers(name):
    """Fields of a savable class, or attributes that fit leaves, that hold arrays of whole numbers."""
    cls = class_of(name)
    types = fitted_types(cls) if is_estimator(cls) else declared_types(cls)
    return [field for field, annotation in types.items() if takes_integers(annotation)]


@pytest.mark.parametrize("name", SAVABLE)
def test_every_field_of_whole_numbers_is_offsets_indices_or_any_number(name):
    cls = class_of(name)
    for field in fields_of_whole_numbers(name):
        assert field in pointers(cls) or ANY_NUMBER in marks(cls)[field], field


FITS = {
    "LabelHistogram": lambda: LabelHistogram().fit(GRAPHS[:6]),
    "LabelHistogramFeatures": lambda: LabelHistogramFeatures().fit(GRAPHS[:6]),
    "AttributeKernel": lambda: AttributeKernel().fit(GRAPHS[:6]),
    "SumKernel": lambda: pk.SumKernel([LabelHistogram()]).fit(GRAPHS[:6]),
    "GraphIndex": lambda: pk.GraphIndex(kernel=LabelHistogram()).fit(GRAPHS[:6]),
}


@pytest.mark.parametrize("name", FITS)
def test_estimators_that_lack_what_fit_always_leaves_are_refused(name, tmp_path):
    model = FITS[name]()
    whole = to_file(model)
    assert always_learned(type(model))
    for attribute in always_learned(type(model)):
        header, arrays = parts_of(whole)
        del header["model"]["object"]["state"][attribute]
        with pytest.raises(pk.storage.ModelFileError, match=f"{name} lacks {attribute}|wrong kind"):
            load_bytes(forged(header, arrays), tmp_path)


SIX = pk.datasets.make_molecules(6, random_state=0).graphs


def fitted():
    return pk.WeisfeilerLehman(t_max=1).fit(SIX)


def test_an_index_out_of_range_is_refused():
    kernel = pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()]).fit(SIX)
    counter = kernel._counter
    check_object(counter)
    parts = counter.parts.copy()
    parts[0] = 2
    with pytest.raises(ValueError, match=r"JoinedCounter.*inconsistent"):
        check_object(replace(counter, parts=parts))
    with pytest.raises(ValueError, match=r"JoinedCounter.*inconsistent"):
        check_object(replace(counter, parts=np.full_like(parts, -1)))


def test_numbers_in_lists_and_sparse_matrices_are_looked_at():
    assert [found.tolist() for found in float_arrays(np.inf)] == [np.inf]
    several = [np.array([0.5, 1]), csr_array(np.array([[np.inf]])), np.arange(3), "text", None, 2.5]
    assert [found.tolist() for found in float_arrays(several)] == [[0.5, 1.0], [np.inf]]


def test_gaps_that_mean_something_are_kept(tmp_path):
    kernel = pk.ShortestPath(attributes="gaussian").fit(
        pk.GraphDatabase(
            np.eye(4)[:, [1, 0, 2, 3]] * [1, 1, 0, 0], [0, 2, 4], node_attributes=np.arange(4.0)[:, None]
        )
    )
    assert np.isinf(kernel._counts.distances).any()
    pk.save_model(kernel, tmp_path / "kernel.pk")
    assert np.isinf(pk.load_model(tmp_path / "kernel.pk")._counts.distances).any()
