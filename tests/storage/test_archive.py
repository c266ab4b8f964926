"""Arrays, sparse matrices and headers of model files, and members that are refused."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from propkernels.storage import archive


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.eye(3)),
        np.array(5.0),
        np.empty((0, 4)),
        np.array(["ab"]),
    ],
    ids=str,
)
def test_arrays_come_back(array):
    found = archive.from_bytes(archive.to_bytes(array))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_other_byte_orders_become_native():
    found = archive.from_bytes(archive.to_bytes(np.array([1, 2], dtype=">i4")))
    assert found.tolist() == [1, 2]
    assert found.dtype.isnative
    assert not archive.as_read(np.arange(3)).flags.writeable


@pytest.mark.parametrize("cut", [1, 8, 17])
def test_arrays_that_are_too_short(cut):
    with pytest.raises(ValueError, match=r"has \d+ bytes"):
        archive.from_bytes(archive.to_bytes(np.arange(4.0))[:-cut])


def test_objects_are_neither_written_nor_read():
    with pytest.raises(ValueError, match="pickle"):
        archive.to_bytes(np.array([{}], dtype=object))
    data = archive.to_bytes(np.zeros(1)).replace(b"'<f8'", b"'|O' ")
    with pytest.raises(ValueError, match="unsupported dtype"):
        archive.from_bytes(data)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_matrices_are_checked(kind):
    data, indices, indptr = np.ones(2), np.array([0, 2]), np.array([0, 1, 2])
    shape = (2, 3) if kind == "csr" else (3, 2)
    matrix = archive.sparse_matrix(kind, shape, data, indices, indptr)
    assert matrix.shape == shape
    for wrong in (
        (data, np.array([0, 3]), indptr),
        (data, np.array([0, -1]), indptr),
        (data, indices, np.array([0, 3, 2])),
        (data, indices, np.array([0, 1, -2])),
        (data[:1], indices, indptr),
        (data.astype(complex), indices, indptr),
    ):
        with pytest.raises(ValueError, match="sparse matrix"):
            archive.sparse_matrix(kind, shape, *wrong)


def test_headers_are_strict_json():
    assert archive.from_json(archive.to_json({"a": [1, "é"]})) == {"a": [1, "é"]}
    with pytest.raises(ValueError, match="Out of range"):
        archive.to_json({"a": float("nan")})
    with pytest.raises(ValueError, match="NaN is not JSON"):
        archive.from_json('{"a": NaN}')
    with pytest.raises(TypeError, match="not an object"):
        archive.from_json("[1]")


def test_archives_come_back_and_are_the_same_bytes():
    streams = [io.BytesIO(), io.BytesIO()]
    for stream in streams:
        archive.write_archive(stream, '{"x": 1}', [np.arange(3), np.eye(2)])
    assert streams[0].getvalue() == streams[1].getvalue()
    with ZipFile(streams[0]) as opened:
        archive.check_members(opened, len(streams[0].getvalue()))
        assert archive.read_header(opened) == {"x": 1}
        np.testing.assert_array_equal(archive.read_array(opened, 1), np.eye(2))
        with pytest.raises(ValueError, match="larger than the file"):
            archive.check_members(opened, 10)


def test_compressed_members_are_refused():
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as opened:
        opened.writestr("model.json", "x" * 1000)
    with ZipFile(stream) as opened, pytest.raises(ValueError, match=r"model\.json is compressed"):
        archive.check_members(opened, 10**6)
