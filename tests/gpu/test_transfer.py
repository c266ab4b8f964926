"""Copies in chunks, with numpy in place of CuPy."""

import pickle
import sys
from contextlib import nullcontext
from ctypes import memmove
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from propkernels.counts.counters import StreamCounts
from propkernels.gpu import transfer
from propkernels.gpu.transfer import later_streams


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
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint16, np.uint8])
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


def streams_and_calls():
    calls = []

    def compute():
        calls.append(1)
        return [StreamCounts(csr_array([[t + 1.0]]), np.array([t + 7]), t, 0.5) for t in range(2)]

    return later_streams(compute, [0, 1], [0.5, 0.5]), calls


def test_counts_are_computed_once_and_only_when_they_are_read():
    streams, calls = streams_and_calls()
    assert [(stream.iteration, stream.weight) for stream in streams] == [(0, 0.5), (1, 0.5)]
    assert not calls
    assert [streams[k % 2].codes.tolist() for k in range(8)] == [[7], [8]] * 4
    assert [stream.counts.toarray().item() for stream in streams] == [1.0, 2.0]
    assert calls == [1]


def test_what_is_pickled_or_stored_is_plain():
    streams, _ = streams_and_calls()
    for plain in (pickle.loads(pickle.dumps(streams))[1], streams[1].stored()):
        assert type(plain) is StreamCounts
        assert (plain.codes.tolist(), plain.iteration, plain.weight) == ([8], 1, 0.5)
