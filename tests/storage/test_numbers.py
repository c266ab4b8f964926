"""Whole numbers in model files: every field of them says what it points to."""

import numpy as np
import pytest

from propkernels.storage.classes import class_of, known_names
from propkernels.storage.invariants import marks, pointers
from propkernels.storage.types import check_of, declared_types, fitted_types, is_estimator
from propkernels.utils.stored import ANY_NUMBER

INTEGERS = [np.ones(2, dtype=kind) for kind in (np.int32, np.int64, np.uint64)]


def takes_integers(annotation):
    """Whether an array of integers, or a list of them, passes a check that not every array passes."""
    check = check_of(annotation)
    takes = any(check(sample) for array in INTEGERS for sample in (array, [array]))
    return (
        takes
        and not check(np.array(["text"]))
        and not check(["text"])
        and not check(np.ones(2, dtype=np.float32))
    )


def fields_of_whole_numbers(name):
    """Fields of a savable class, or attributes that fit leaves, that hold arrays of whole numbers."""
    cls = class_of(name)
    types = fitted_types(cls) if is_estimator(cls) else declared_types(cls)
    return [field for field, annotation in types.items() if takes_integers(annotation)]


@pytest.mark.parametrize("name", known_names())
def test_every_field_of_whole_numbers_is_offsets_indices_or_any_number(name):
    cls = class_of(name)
    for field in fields_of_whole_numbers(name):
        assert field in pointers(cls) or ANY_NUMBER in marks(cls)[field], field


def test_fields_of_whole_numbers_are_found():
    found = {f"{name}.{field}" for name in known_names() for field in fields_of_whole_numbers(name)}
    wanted = {"Postings.bin_ptr", "JoinedCounter.parts", "ShortestPath.train_ptr_", "StreamCounts.codes"}
    assert wanted <= found
