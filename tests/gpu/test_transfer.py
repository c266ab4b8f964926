"""Copies in chunks, with numpy in place of CuPy."""

import sys
from contextlib import nullcontext
from ctypes import memmove
from types import SimpleNamespace

import numpy as np
import pytest

from propkernels.gpu import transfer


class DeviceArray(np.ndarray):
    """A numpy array with the methods of CuPy's arrays."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def set(self, source, stream=None):
        np.copyto(self, source)

    def get(self, out=None, stream=None):
        if out is None:
            return np.array(self)
        np.copyto(out, self)
        return out


class Stream:
    ptr = 0

    def __init__(self, non_blocking=False):
        self.n_waits = 0

    def synchronize(self):
        self.n_waits += 1

    def record(self):
        return self


@pytest.fixture
def copies(monkeypatch):
    runtime = SimpleNamespace(memcpyAsync=lambda to, source, n, *_: memmove(to, source, n))
    cuda = SimpleNamespace(Stream=Stream, Device=nullcontext, get_current_stream=Stream, runtime=runtime)
    cupy = SimpleNamespace(
        cuda=cuda,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(DeviceArray),
        ascontiguousarray=lambda array: np.ascontiguousarray(array).view(DeviceArray),
    )
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(empty_pinned=np.empty))
    monkeypatch.setattr(transfer, "BYTES_OF_A_CHUNK", 64)
    monkeypatch.setattr(transfer, "BYTES_TO_DEVICE", 64)
    monkeypatch.setattr(transfer, "LEAST_CHUNK", 16)
    monkeypatch.setattr(transfer, "WORKERS", 3)
    return transfer.Transfer(cupy)


@pytest.mark.parametrize("worth", [0, 2**30])
@pytest.mark.parametrize("shape", [(0,), (1,), (7, 5), (101,)])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
def test_arrays_come_back(copies, monkeypatch, worth, shape, dtype):
    monkeypatch.setattr(transfer, "WORTH_PINNING", worth)
    monkeypatch.setattr(transfer, "WORTH_THREADS", worth)
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


def test_the_pages_of_a_room_are_touched_until_a_copy_begins(copies):
    room = copies.room((300, 40))
    for one in room.preparations:
        one.result()
    flat = room.array.reshape(-1)
    n = transfer.WORKERS
    firsts = np.linspace(0, len(flat), n + 1).astype(int)[:-1]
    assert (flat[firsts] == 0).all()
    assert room.finished() is room.array


@pytest.mark.parametrize(("n", "length"), [(1, 2), (3, 2), (6, 2), (24, 8), (30, 5), (48, 8), (49, 6)])
def test_workers_have_equally_many_chunks(copies, n, length):
    assert transfer._length_of_a_chunk(8 * n, 8) == length


def test_an_error_of_the_device_ends_the_workers(copies, monkeypatch):
    monkeypatch.setattr(transfer, "WORTH_PINNING", 0)
    calls = []

    def fail(*_):
        calls.append(1)
        if len(calls) > 2:
            raise RuntimeError("no memory")

    monkeypatch.setattr(copies._cupy.cuda.runtime, "memcpyAsync", fail)
    with pytest.raises(RuntimeError, match="no memory"):
        copies.to_host(np.zeros(500).view(DeviceArray))
    monkeypatch.setattr(
        copies._cupy.cuda.runtime, "memcpyAsync", lambda to, source, n, *_: memmove(to, source, n)
    )
    assert copies.to_host(np.ones(500).view(DeviceArray)).sum() == 500
