"""The oracle of databases finds offsets and indices that lie."""

import numpy as np
import pytest
import scipy.sparse as sp

from fuzz.cases import Wrong
from fuzz.valid import check_database, check_indices, check_partition, check_sparse
from tests.test_contract_discovery import the_zoo


def test_valid_databases_pass():
    check_database(the_zoo())


@pytest.mark.parametrize("ptr", [[0, 2**63 - 1, -2, 3], [0, 2], [1, 3], [0, 2, 1, 3], []])
def test_offsets_that_lie_are_found(ptr):
    with pytest.raises(Wrong):
        check_partition(np.array(ptr, dtype=np.int64), 3, "graph_ptr")


def test_indices_and_values_that_lie_are_found():
    with pytest.raises(Wrong):
        check_indices([0, 3], 3, "columns")
    matrix = sp.csr_array(np.eye(3))
    check_sparse(matrix, "matrix")
    matrix.data[0] = np.nan
    with pytest.raises(Wrong):
        check_sparse(matrix, "matrix")


def test_databases_out_of_thin_air_are_found():
    with pytest.raises(Wrong, match="small input"):
        check_database(the_zoo(), most=3)
