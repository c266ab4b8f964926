"""Marks of stored attributes, which point into other attributes."""

from types import SimpleNamespace

import numpy as np
import pytest

from propkernels._utils.stored import Indices, Offsets

PART = SimpleNamespace(codes=[7, 8, 9], names=["a", "b"], rows=(np.zeros((2, 4)),))


def test_offsets_and_indices_stay_inside_what_they_point_to():
    Offsets("codes", pieces="names").check(PART, np.array([0, 1, 3]), "ptr")
    Indices("rows.0.shape.1").check(PART, np.array([3, 0]), "columns")
    for mark, values, clause in (
        (Offsets("codes"), [0, 2], "ptr must end at 3, got 2"),
        (Offsets("codes", pieces="names"), [0, 3], "ptr must list 3 offsets, got 2"),
        (Indices("names"), [2], "ptr must be numbers from 0 to 1, got 2 at position 0"),
    ):
        with pytest.raises(ValueError, match=clause):
            mark.check(PART, np.array(values), "ptr")
