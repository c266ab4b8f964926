"""Arrays, sparse matrices and headers of model files, and members that are refused."""

import io
from zipfile import ZipFile

import numpy as np
import pytest

from propkernels.storage import codec, model_files


def to_bytes(array, place=0):
    stream = io.BytesIO()
    model_files.write_array(stream, array, place)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_matrices_are_checked(kind):
    data, indices, indptr = np.ones(2), np.array([0, 2]), np.array([0, 1, 2])
    shape = (2, 3) if kind == "csr" else (3, 2)
    matrix = codec.sparse_matrix(kind, shape, data, indices, indptr)
    assert matrix.shape == shape
    for wrong in (
        (data, np.array([0, 3]), indptr),
        (data, np.array([0, -1]), indptr),
        (data, indices, np.array([0, 3, 2])),
        (data, indices, np.array([0, 1, -2])),
        (data[:1], indices, indptr),
        (data, indices.astype(float), indptr),
        (data, indices, indptr[::-1].copy()),
        (data, indices, indptr[:-1]),
        (data.astype(complex), indices, indptr),
        (data.astype(str), indices, indptr),
    ):
        with pytest.raises(ValueError, match="sparse matrix"):
            codec.sparse_matrix(kind, shape, *wrong)


def test_arrays_with_other_numbers_of_bytes_are_refused():
    for data in (to_bytes(np.arange(3)) + bytes(8), to_bytes(np.arange(3))[:-8]):
        with pytest.raises(ValueError):
            model_files.from_bytes(data)


def test_numbers_are_aligned_in_the_file_and_views_of_it_are_read_only():
    arrays = [np.arange(3), np.array(["a", "bc"]), np.eye(5)[:, 1:], np.empty((0, 2))]
    arrays.append(np.array([1, 2], ">i8"))
    stream = io.BytesIO()
    model_files.write_archive(stream, '{"x": 1}', arrays)
    memory = memoryview(stream.getvalue())
    with ZipFile(stream) as opened:
        for number, array in enumerate(arrays):
            found = model_files.map_array(opened, memory, number)
            np.testing.assert_array_equal(found, array)
            data = opened.read(model_files.member(number))
            assert (bytes(memory).index(data) + len(data) - array.nbytes) % model_files.ALIGNED == 0
            is_view = array.size > 0 and array.dtype.isnative
            assert found.flags.writeable != is_view
