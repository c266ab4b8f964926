"""Copies in chunks, with numpy in place of CuPy."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from propkernels.gpu import transfer


class DeviceArray(np.ndarray):
    """A numpy array with the methods of CuPy's arrays."""

    def set(self, source, stream=None):
        np.copyto(self, source)

    def get(self, out=None, stream=None):
        if out is None:
            return np.array(self)
        np.copyto(out, self)
        return out


class Stream:
    def __init__(self, non_blocking=False):
        self.n_waits = 0

    def synchronize(self):
        self.n_waits += 1


@pytest.fixture
def copies(monkeypatch):
    cuda = SimpleNamespace(Stream=Stream, Device=nullcontext, get_current_stream=Stream)
    cupy = SimpleNamespace(
        cuda=cuda,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(DeviceArray),
        ascontiguousarray=lambda array: np.ascontiguousarray(array).view(DeviceArray),
    )
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(empty_pinned=np.empty))
    monkeypatch.setattr(transfer, "BYTES_OF_A_CHUNK", 64)
    return transfer.Transfer(cupy)


@pytest.mark.parametrize("worth", [0, 2**30])
@pytest.mark.parametrize("shape", [(0,), (1,), (7, 5), (101,)])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
def test_arrays_come_back(copies, monkeypatch, worth, shape, dtype):
    monkeypatch.setattr(transfer, "WORTH_PINNING", worth)
    array = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    there = copies.to_device(array)
    assert isinstance(there, DeviceArray)
    np.testing.assert_array_equal(copies.to_host(there), array)
    wide = copies.to_host(there, np.float64)
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide, array)


@pytest.mark.parametrize(("shape", "fits"), [((7, 5), True), ((5, 7), False)])
def test_an_array_prepared_before_is_filled_if_it_fits(copies, monkeypatch, shape, fits):
    monkeypatch.setattr(transfer, "WORTH_PINNING", 0)
    room, array = copies.room(shape), np.arange(35, dtype=np.int32).reshape(7, 5)
    found = copies.to_host(copies.to_device(array), np.float64, room)
    assert (found is room.array) == fits
    np.testing.assert_array_equal(found, array)


def test_arrays_that_are_not_contiguous(copies, monkeypatch):
    monkeypatch.setattr(transfer, "WORTH_PINNING", 0)
    array = np.arange(60.0).reshape(6, 10)[:, ::2]
    np.testing.assert_array_equal(copies.to_host(copies.to_device(array)), array)
