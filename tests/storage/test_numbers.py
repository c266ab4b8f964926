"""Whole numbers in model files: every field of them says what it points to."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.stored import ANY_NUMBER
from propkernels.kernels import AttributeKernel, LabelHistogram, LabelHistogramFeatures
from propkernels.storage.classes import (
    always_learned,
    check_of,
    class_of,
    declared_types,
    fitted_types,
    is_estimator,
    known_names,
    marks,
    pointers,
)
from tests.storage.test_safety import GRAPHS, forged, load_bytes, parts_of, to_file

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


@pytest.mark.parametrize("name", known_names())
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
