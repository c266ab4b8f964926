"""Arrays, sparse matrices and headers of model files, and members that are refused."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from propkernels.storage import archive


def to_bytes(array, place=0):
    stream = io.BytesIO()
    archive.write_array(stream, array, place)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.eye(3)),
        np.eye(4)[::2, 1:],
        np.array(5.0),
        np.empty((0, 4)),
        np.array(["ab"]),
    ],
    ids=str,
)
def test_arrays_come_back(array):
    found = archive.from_bytes(to_bytes(array))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_other_byte_orders_become_native():
    found = archive.from_bytes(to_bytes(np.array([1, 2], dtype=">i4")))
    assert found.tolist() == [1, 2]
    assert found.dtype.isnative
    assert not archive.as_read(np.arange(3)).flags.writeable


@pytest.mark.parametrize("cut", [1, 8, 17])
def test_arrays_that_are_too_short(cut):
    with pytest.raises(ValueError, match=r"has \d+ bytes"):
        archive.from_bytes(to_bytes(np.arange(4.0))[:-cut])


def test_objects_are_neither_written_nor_read():
    with pytest.raises(TypeError, match="data-type"):
        to_bytes(np.array([{}], dtype=object))
    data = to_bytes(np.zeros(1)).replace(b"'<f8'", b"'|O' ")
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


def test_numbers_are_aligned_in_the_file_and_views_of_it_are_read_only():
    arrays = [
        np.arange(3),
        np.array(["a", "bc"]),
        np.eye(5)[:, 1:],
        np.empty((0, 2)),
        np.array([1, 2], ">i8"),
    ]
    stream = io.BytesIO()
    archive.write_archive(stream, '{"x": 1}', arrays)
    memory = memoryview(stream.getvalue())
    with ZipFile(stream) as opened:
        for number, array in enumerate(arrays):
            found = archive.map_array(opened, memory, number)
            np.testing.assert_array_equal(found, array)
            data = opened.read(archive.member(number))
            assert (bytes(memory).index(data) + len(data) - array.nbytes) % archive.ALIGNED == 0
            is_view = array.size > 0 and array.dtype.isnative
            assert found.flags.writeable != is_view


def test_views_of_bytes_that_are_not_aligned_are_copies():
    data = to_bytes(np.arange(3), place=1)
    assert archive.from_bytes(data, copy=False).flags.writeable
    assert not archive.from_bytes(to_bytes(np.arange(3)), copy=False).flags.writeable
