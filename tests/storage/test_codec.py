"""Values, arrays, sparse matrices and headers of model files, and trees that no encoder wrote."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from zipfile import ZipFile
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from propkernels.storage import codec, model_files
from propkernels.storage.codec import Decoder, Encoder
from propkernels.storage.model_files import from_bytes

numbers = st.integers() | st.floats() | st.complex_numbers() | st.fractions() | st.booleans() | st.none()
decimals = st.decimals(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(), max_size=8) | st.binary(max_size=8)
leaves = numbers | decimals | texts | st.dates() | st.datetimes()
hashables = st.recursive(
    leaves, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4
)
values = st.recursive(
    hashables,
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner) | st.dictionaries(hashables, inner, max_size=3)
    ),
    max_leaves=8,
)


def round_trip(value):
    encoder = Encoder()
    text = json.dumps(encoder.encode(value, "value"), allow_nan=False)
    stored = [to_bytes(array) for array in encoder.arrays]
    return Decoder(lambda number: from_bytes(stored[number])).decode(json.loads(text))


def same(a, b):
    """Equal, and of the same types, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (set, frozenset)):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return repr(a) == repr(b)


@pytest.mark.slow
@given(values)
def test_plain_values(value):
    assert same(round_trip(value), value)


SPECIAL = [float("nan"), -0.0, 2**200, "\ud800", range(3, 11, 2), list(range(100)), tuple(range(-50, 50))]
SPECIAL += [[*range(100), 2**70], {1: "a", "1": "b", (1,): "c", None: "d"}, {1, "a"}, Fraction(1, 3)]
DATES = [date(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5, 6), datetime(2020, 1, 2, tzinfo=UTC)]


@pytest.mark.parametrize("value", [*SPECIAL, *DATES, Decimal("0.1")])
def test_special_values(value):
    assert same(round_trip(value), value)


TEXTS = [np.array(["a", "bcd"]), np.array([b"x"])]
ARRAYS = [np.arange(6).reshape(2, 3), np.arange(10)[::3], np.array([1 + 2j]), np.empty((0, 4), dtype=bool)]
ARRAYS += [np.asfortranarray(np.eye(2, 3)), np.array(3.5, dtype=np.float32), np.array([1, 2], dtype=">i4")]


@pytest.mark.parametrize("array", [*TEXTS, *ARRAYS])
def test_arrays(array):
    again = round_trip(array)
    assert again.dtype == array.dtype.newbyteorder("=")
    assert np.array_equal(again, array)
    assert again.flags.f_contiguous == array.flags.f_contiguous or not array.flags.forc
    assert again.flags.writeable


def test_one_array_is_written_once_and_stays_one():
    array = np.arange(5)
    matrix = csr_array(np.eye(2))
    encoder = Encoder()
    encoder.encode([array, {"a": array}], "value")
    assert len(encoder.arrays) == 1
    first, second, third, fourth = round_trip([array, array, matrix, matrix])
    assert first is second
    assert third is fourth


class Text(str):
    """A kind of str that nobody else knows."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Text("a"), r"value is a .*Text"),
        ([1, {"a": len}], r"value\[1\]\['a'\] is a builtins.builtin_function_or_method"),
        (int, "value is a builtins.type"),
        (np.array([1], dtype="M8[s]"), "value is an array of type datetime64"),
        (np.ma.array([1]), "value is a numpy.ma.MaskedArray"),
        (coo_array(np.eye(2)), "value is a scipy.sparse"),
        (datetime(2020, 1, 2, tzinfo=ZoneInfo("UTC")), "cannot be saved without loss"),
        (np.random.default_rng(0), "value is a numpy.random._generator.Generator"),
    ],
)
def test_what_cannot_be_saved(value, message):
    with pytest.raises(TypeError, match=message):
        Encoder().encode(value, "value")


def test_what_refers_to_itself(tmp_path):
    import propkernels as pk

    kernel = pk.PropagationKernel()
    kernel.prior = {"a": kernel}
    with pytest.raises(TypeError, match=r"prior\['a'\] refers to itself"):
        pk.save_model(kernel, tmp_path / "model.pk")


STORED = [np.arange(3), np.array([0, 1, 2, 3]), np.ones(3)]


def decode(tree):
    return Decoder(STORED.__getitem__).decode(tree)


@pytest.mark.parametrize(
    "tree",
    [
        {"unknown": 1},
        {"tuple": [], "set": []},
        {},
        {"tuple": "ab"},
        {"float": "1.5"},
        {"same": 0},
        {"same": -1},
        {"same": True},
        {"bytes": "not base64!"},
        {"array": 7},
        *({"array": number} for number in ({}, [], "x", None)),
        {"object": {"class": "os.system", "state": {}}},
        {"object": {"class": "propkernels.graphs.database.GraphDatabase", "state": {}}},
        {"sparse": {"format": "csr", "shape": [1, 1], "data": 2, "indices": 0, "indptr": 1}},
        {"sparse": {"format": "csc", "shape": [1, 1], "data": 0, "indices": 0, "indptr": 0}},
        {"random state": {"dict": []}},
    ],
    ids=str,
)
def test_other_trees_are_refused(tree):
    with pytest.raises(Exception) as caught:
        decode(tree)
    assert not isinstance(caught.value, (SystemExit, MemoryError, RecursionError))


def to_bytes(array, place=0):
    stream = io.BytesIO()
    model_files.write_array(stream, array, place)
    return stream.getvalue()


def test_sparse_matrices_are_checked():
    data, indices, indptr = np.ones(2), np.array([0, 2]), np.array([0, 1, 2])
    shape = (2, 3)
    assert codec.sparse_matrix(shape, data, indices, indptr).shape == shape
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
            codec.sparse_matrix(shape, *wrong)


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
