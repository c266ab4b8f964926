"""Copies between host and device memory through pinned buffers, in threads.

A plain copy of pageable memory goes through one small buffer of the driver. Several threads with pinned
buffers keep the bus busy: while one chunk crosses it, others are copied on either side. On the way to the
host, one thread talks to the device, and the others run compiled code: threads that take turns with the GIL
wait longer than they copy.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from threading import local
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.locks import cached_property, fork_safe_lock
from propkernels.counts.counters import StreamCounts

THREADS_OF_A_COPY = min(16, os.cpu_count() or 1)
WORKERS = max(THREADS_OF_A_COPY - 1, 1)  # write what arrives, while the calling thread keeps the bus busy
SLOTS_OF_A_WORKER = 2
BYTES_OF_A_PAGE = 4096
BYTES_OF_A_CHUNK = 2**21  # of a copy to the host; a worker has one in each of its slots
BYTES_TO_DEVICE = 2**22  # of a chunk of a copy to the device, of which a thread has one
LEAST_CHUNK = 2**16  # bytes of a chunk of a small array
WORTH_PINNING = 2**20  # bytes of a copy to the host from which on it is cut into chunks
WORTH_THREADS = 2**25  # bytes of a copy to the device from which on threads share it
WORTH_TOUCHING = 2**30  # bytes of an array whose pages are touched until the device has computed it
CHUNKS_ON_THE_BUS = 4  # chunks that the calling thread has under way
A_MOMENT = 2e-5  # seconds to wait for a free slot
WIDENED = (np.dtype(np.uint16), np.dtype(np.int32))  # that become float64 on the host
TO_HOST = 2  # cudaMemcpyDeviceToHost


@dataclass
class Room:
    """An array on the host that is to receive a copy.

    The system gives pages of memory when they are first written: that takes longer than the copy itself, and
    can be done while the device computes.
    """

    array: NDArray[np.float64]
    stop: NDArray[np.int64]
    preparations: list[Future[None]]

    def finished(self) -> NDArray[np.float64]:
        """Return the array once nothing else writes to it: pages that were not touched are left out."""
        self.stop[0] = 1
        wait(self.preparations)
        return self.array


def _target(shape: tuple[int, ...], dtype: Any, room: Room | None) -> NDArray[Any]:
    """Return the array of the room if it fits, else a new one."""
    found = None if room is None else room.finished()
    if found is None or found.shape != shape or found.dtype != dtype:
        return np.empty(shape, dtype=dtype)
    return found


def _length_of_a_chunk(n_bytes: int, itemsize: int) -> int:
    """Return the numbers of a chunk: the same number of chunks for each worker, neither small nor large."""
    rounds = -(-n_bytes // (WORKERS * BYTES_OF_A_CHUNK))
    wanted = max(-(-n_bytes // (WORKERS * rounds)), LEAST_CHUNK)
    return -(-wanted // itemsize)


class Transfer:
    """Copies arrays between host and device; pinned buffers are allocated once per thread."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._own = local()
        self._lock = fork_safe_lock()  # of the slots
        n_threads = max(THREADS_OF_A_COPY, WORKERS)  # workers wait for each other, so that all must run
        self._threads = ThreadPoolExecutor(n_threads, thread_name_prefix="propkernels-copy")
        # copies do not wait for the preparations of a large matrix
        self._preparers = ThreadPoolExecutor(WORKERS, thread_name_prefix="propkernels-room")

    def to_device(self, array: NDArray[Any]) -> Any:
        """Return an array copied to the device."""
        cupy, source = self._cupy, np.ascontiguousarray(array)
        target = cupy.empty(source.shape, dtype=source.dtype)
        if source.nbytes < WORTH_THREADS:
            target.set(source)
            return target
        here, there, device = source.reshape(-1), target.reshape(-1), cupy.cuda.Device()
        step = max(BYTES_TO_DEVICE // source.itemsize, 1)

        def copy(first: int) -> None:
            with device:
                buffer, stream = self._buffer(source.dtype)
                part = here[first : first + step]
                np.copyto(buffer[: len(part)], part)
                there[first : first + step].set(buffer[: len(part)], stream=stream)
                stream.synchronize()

        list(self._threads.map(copy, range(0, len(here), step)))
        return target

    def to_host(self, array: Any, dtype: Any = None, room: Room | None = None) -> NDArray[Any]:
        """Return an array copied from the device after pending work, optionally converted to a dtype.

        Threads convert chunks after the copy, so that integers can cross the bus in few bytes. ``room`` is
        the array to fill, if it has this shape and type.
        """
        if dtype is not None and (np.dtype(dtype) != np.float64 or array.dtype not in WIDENED):
            array = array.astype(dtype, copy=False)
        if array.nbytes <= WORTH_PINNING:
            return np.asarray(array.get(), dtype=dtype)
        there = self._cupy.ascontiguousarray(array).reshape(-1)
        if room is not None and room.array.nbytes >= WORTH_TOUCHING:
            self._cupy.cuda.get_current_stream().synchronize()  # pages are touched until then
        target = _target(array.shape, np.dtype(array.dtype if dtype is None else dtype), room)
        with self._lock:
            self._fill(target.reshape(-1), there)
        return target

    def _fill(self, flat: NDArray[Any], there: Any) -> None:
        """Copy a flat array of the device to one of the host: workers write what this thread fetches."""
        length = _length_of_a_chunk(there.nbytes, there.itemsize)
        n_chunks = -(-len(flat) // length)
        n_workers = min(WORKERS, n_chunks)
        slots = self._slots[: n_workers * SLOTS_OF_A_WORKER * length * there.itemsize]
        slots = slots.view(there.dtype).reshape(-1, length)
        ready, done = np.zeros((2, len(slots)), dtype=np.int64)
        is_converted = flat.dtype != there.dtype
        source, target = (slots, flat) if is_converted else (slots.view(np.uint8), flat.view(np.uint8))
        shared = (n_workers, n_chunks, ready, done, target)
        workers: list[Future[None]] = []
        try:
            for worker in range(n_workers):
                workers.append(self._threads.submit(partial(_core.write_chunks, source, worker, *shared)))
            self._fetch(there, slots, n_chunks, ready, done)
        except BaseException:
            ready[:] = -1  # what workers wait for does not come
            raise
        finally:
            wait(workers)
        for one in workers:
            one.result()

    def _fetch(self, there: Any, slots: NDArray[Any], n_chunks: int, ready: Any, done: Any) -> None:
        """Copy all chunks to their slots, each when the one before has left it, and tell the workers."""
        stream, runtime = self._cupy.cuda.get_current_stream(), self._cupy.cuda.runtime
        n_slots, size, here = len(slots), slots[0].nbytes, slots.ctypes.data
        under_way: deque[tuple[int, Any]] = deque()

        def arrive() -> None:
            chunk, event = under_way.popleft()
            event.synchronize()
            ready[chunk % n_slots] = chunk + 1

        for chunk in range(n_chunks):
            slot, first = chunk % n_slots, chunk * size
            while chunk >= n_slots and done[slot] <= chunk - n_slots:
                arrive() if under_way else sleep(A_MOMENT)
            n_bytes = min(size, there.nbytes - first)
            source, target = there.data.ptr + first, here + slot * size
            runtime.memcpyAsync(target, source, n_bytes, TO_HOST, stream.ptr)
            under_way.append((chunk, stream.record()))
            if len(under_way) > CHUNKS_ON_THE_BUS:
                arrive()
        while under_way:
            arrive()

    def room(self, shape: tuple[int, ...]) -> Room:
        """Return an array of float64 whose pages threads touch from now on, until a copy begins."""
        array, stop = np.empty(shape), np.zeros(1, dtype=np.int64)
        flat, step = array.reshape(-1), BYTES_OF_A_PAGE // array.itemsize
        bounds = np.linspace(0, len(flat), WORKERS + 1).astype(np.int64).tolist()
        runs = [flat[first:last] for first, last in pairwise(bounds)]
        return Room(array, stop, [self._preparers.submit(_core.touch_pages, run, step, stop) for run in runs])

    @cached_property
    def _slots(self) -> NDArray[np.uint8]:
        """Pinned memory of the slots."""
        import cupyx

        return cupyx.empty_pinned(WORKERS * SLOTS_OF_A_WORKER * BYTES_OF_A_CHUNK, dtype=np.uint8)

    def _buffer(self, dtype: Any) -> tuple[NDArray[Any], Any]:
        """Return the pinned buffer and stream of this thread, for copies to the device."""
        if not hasattr(self._own, "stream"):
            import cupyx

            self._own.stream = self._cupy.cuda.Stream(non_blocking=True)
            self._own.bytes = cupyx.empty_pinned(BYTES_TO_DEVICE, dtype=np.uint8)
        return self._own.bytes.view(dtype), self._own.stream


class LaterCounts:
    """Counts of all streams, computed when they are first read, by each thread that reads at once.

    A kernel matrix needs the counts on the device only. The fitted kernel has them on the host as well, for
    new graphs, explanations and files; many kernels are fitted for their matrix alone.
    """

    def __init__(self, compute: Callable[[], Sequence[StreamCounts]]) -> None:
        self._compute: Callable[[], Sequence[StreamCounts]] | None = compute
        self._streams: Sequence[StreamCounts] = ()

    def __getitem__(self, number: int) -> StreamCounts:
        if (compute := self._compute) is not None:
            self._streams, self._compute = compute(), None  # in this order, for other threads
        return self._streams[number]


class LaterStream(StreamCounts):
    """Counts of one stream of ``LaterCounts``; its iteration and weight are known from the beginning."""

    def __init__(self, later: LaterCounts, number: int, iteration: int, weight: float) -> None:
        vars(self).update(_later=later, _number=number, iteration=iteration, weight=weight)

    @property
    def counts(self) -> csr_array:
        """Phi: one row per graph, one column per bin."""
        return self.stored().counts

    @property
    def codes(self) -> NDArray[np.int64]:
        """Code of each bin."""
        return self.stored().codes

    def stored(self) -> StreamCounts:
        """Return the plain counts, for files."""
        later: LaterCounts = vars(self)["_later"]
        return later[vars(self)["_number"]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the plain counts."""
        plain = self.stored()
        return StreamCounts, (plain.counts, plain.codes, plain.iteration, plain.weight)


def later_streams(
    compute: Callable[[], Sequence[StreamCounts]], iterations: Sequence[int], weights: Sequence[float]
) -> list[StreamCounts]:
    """Return streams of these iterations and weights, whose counts a function computes."""
    later = LaterCounts(compute)
    numbered = enumerate(zip(iterations, weights, strict=True))
    return [LaterStream(later, number, t, weight) for number, (t, weight) in numbered]
