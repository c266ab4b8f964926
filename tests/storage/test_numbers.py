"""Whole numbers in model files: every field of them is known, and none leads outside of its arrays."""

import numpy as np

from propkernels.storage.classes import class_of, known_names
from propkernels.storage.fitted import FITTED
from propkernels.storage.numbers import ANY_NUMBER, INDICES, OFFSETS
from propkernels.storage.types import check_of, declared_types

KNOWN = {
    f"{cls}.{field}" for table in (OFFSETS, INDICES) for cls, fields in table.items() for field in fields
}
INTEGERS = [np.ones(2, dtype=kind) for kind in (np.int32, np.int64, np.uint64)]


def takes_integers(check):
    """Whether an array of integers, or a list of them, passes a check that not every array passes."""
    takes = any(check(sample) for array in INTEGERS for sample in (array, [array]))
    return takes and not check(np.array(["text"])) and not check(np.ones(2, dtype=np.float32))


def fields_of_whole_numbers():
    """Fields of savable classes, and attributes that fit leaves, that hold arrays of whole numbers."""
    for name in known_names():
        cls = class_of(name)
        if not hasattr(cls, "_get_param_names"):
            for field, annotation in declared_types(cls).items():
                if takes_integers(check_of(annotation)):
                    yield f"{name}.{field}"
    yield from (field for field, check in FITTED.items() if takes_integers(check))


def test_every_field_of_whole_numbers_is_offsets_indices_or_any_number():
    found = set(fields_of_whole_numbers())
    assert {"Postings.bin_ptr", "JoinedCounter.parts", "train_ptr_", "StreamCounts.codes"} <= found
    of_estimators = {name.split(".")[1] for name in KNOWN if name.endswith("_")}
    assert found - KNOWN - of_estimators - ANY_NUMBER == set()
