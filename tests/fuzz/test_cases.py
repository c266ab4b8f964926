"""The oracles find what they should."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from tests.fuzz.cases import Refused, Wrong, run_cases, try_to
from tests.fuzz.valid import check_database, check_indices, check_partition, check_sparse
from tests.test_contract_discovery import the_zoo


def refuse(text, kind=ValueError):
    raise kind(text)


def test_a_sentence_is_a_refusal():
    with pytest.raises(Refused):
        try_to(lambda: refuse("graph 3 has 2 labels for 4 nodes"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("operands could not be broadcast together", ValueError),
        ("'NoneType' object has no attribute 'x'", TypeError),
        ("two\nlines", ValueError),
        ("", ValueError),
        ("index 3 is out of bounds", IndexError),
    ],
)
def test_errors_of_libraries_are_unclear(text, kind):
    with pytest.raises(kind):
        try_to(lambda: refuse(text, kind))


def test_a_failing_case_is_named(monkeypatch):
    monkeypatch.setenv("PROPKERNELS_FUZZ_FIRST", "3")
    monkeypatch.setenv("PROPKERNELS_FUZZ", "2")
    with pytest.raises(Wrong) as caught:
        run_cases(lambda rng: refuse("other", Wrong), 1)
    assert caught.value.__notes__ == ["case 3 of <lambda>"]
    with pytest.raises(RuntimeWarning):
        run_cases(lambda rng: warnings.warn("overflow", RuntimeWarning, stacklevel=1), 1)


@pytest.mark.parametrize("ptr", [[0, 2**63 - 1, -2, 3], [0, 2], [1, 3], [0, 2, 1, 3], []])
def test_offsets_that_lie_are_found(ptr):
    check_database(the_zoo())
    with pytest.raises(Wrong):
        check_partition(np.array(ptr, dtype=np.int64), 3, "graph_ptr")


def test_indices_values_and_sizes_that_lie_are_found():
    with pytest.raises(Wrong):
        check_indices([0, 3], 3, "columns")
    matrix = sp.csr_array(np.eye(3))
    check_sparse(matrix, "matrix")
    matrix.data[0] = np.nan
    with pytest.raises(Wrong):
        check_sparse(matrix, "matrix")
    with pytest.raises(Wrong, match="small input"):
        check_database(the_zoo(), most=3)
