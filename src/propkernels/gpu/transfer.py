"""Copies between host and device memory through pinned buffers, in threads.

A plain copy of pageable memory goes through one small buffer of the driver. Several threads with a pinned
buffer and a CUDA stream each keep the bus busy: while one chunk crosses it, others are copied on either side.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS_OF_A_COPY = min(16, os.cpu_count() or 1)
BYTES_OF_A_PAGE = 4096
BYTES_OF_A_CHUNK = 2**22  # of which each thread has one at a time
WORTH_PINNING = 2**23  # bytes from which on a copy is cut into chunks


@dataclass
class Room:
    """An array on the host that is to receive a copy.

    The system gives pages of memory when they are first written: that takes as long as the copy itself, and
    can be done while the device computes.
    """

    array: NDArray[np.float64]
    preparations: list[Future[None]]

    def finished(self) -> NDArray[np.float64]:
        """Return the array once nothing else writes to it: preparations that have not begun are left out."""
        begun = [one for one in self.preparations if not one.cancel()]
        wait(begun)
        return self.array


def _target(shape: tuple[int, ...], dtype: Any, room: Room | None) -> NDArray[Any]:
    """Return the array of the room if it fits, else a new one."""
    found = None if room is None else room.finished()
    if found is None or found.shape != shape or found.dtype != dtype:
        return np.empty(shape, dtype=dtype)
    return found


class Transfer:
    """Copies arrays between host and device; pinned buffers are allocated once per thread."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._own = local()
        self._threads = ThreadPoolExecutor(THREADS_OF_A_COPY, thread_name_prefix="propkernels-copy")
        # copies do not wait for the many preparations of a large matrix
        self._preparers = ThreadPoolExecutor(THREADS_OF_A_COPY, thread_name_prefix="propkernels-room")

    def to_device(self, array: NDArray[Any]) -> Any:
        """Return an array copied to the device."""
        cupy, source = self._cupy, np.ascontiguousarray(array)
        target = cupy.empty(source.shape, dtype=source.dtype)
        if source.nbytes < WORTH_PINNING:
            target.set(source)
            return target
        here, there = source.reshape(-1), target.reshape(-1)

        def copy(chunk: slice) -> None:
            buffer, stream = self._buffer(source.dtype)
            part = here[chunk]
            np.copyto(buffer[: len(part)], part)
            there[chunk].set(buffer[: len(part)], stream=stream)
            stream.synchronize()

        self._run(copy, len(here), source.itemsize)
        return target

    def to_host(self, array: Any, dtype: Any = None, room: Room | None = None) -> NDArray[Any]:
        """Return an array copied from the device after pending work, optionally converted to a dtype.

        Threads convert chunks after the copy, so that integers can cross the bus in few bytes. ``room`` is
        the array to fill, if it has this shape and type.
        """
        cupy = self._cupy
        if array.nbytes < WORTH_PINNING:
            return np.asarray(array.get(), dtype=dtype)
        target = _target(array.shape, np.dtype(array.dtype if dtype is None else dtype), room)
        cupy.cuda.get_current_stream().synchronize()
        here, there = target.reshape(-1), cupy.ascontiguousarray(array).reshape(-1)

        def copy(chunk: slice) -> None:
            buffer, stream = self._buffer(there.dtype)
            part = here[chunk]
            there[chunk].get(out=buffer[: len(part)], stream=stream)
            stream.synchronize()
            np.copyto(part, buffer[: len(part)])

        self._run(copy, len(here), array.itemsize)
        return target

    def room(self, shape: tuple[int, ...]) -> Room:
        """Return an array of float64 whose pages threads touch from now on, until a copy begins."""
        array = np.empty(shape)
        flat, step = array.reshape(-1), 2 * BYTES_OF_A_CHUNK // array.itemsize

        def touch(first: int) -> None:
            flat[first : first + step : BYTES_OF_A_PAGE // flat.itemsize] = 0.0

        return Room(array, [self._preparers.submit(touch, first) for first in range(0, len(flat), step)])

    def _run(self, copy: Any, length: int, itemsize: int) -> None:
        step = BYTES_OF_A_CHUNK // itemsize
        device = self._cupy.cuda.Device()

        def on_device(first: int) -> None:
            with device:
                copy(slice(first, min(first + step, length)))

        list(self._threads.map(on_device, range(0, length, step)))

    def _buffer(self, dtype: Any) -> tuple[NDArray[Any], Any]:
        """Return the pinned buffer and stream of this thread."""
        if not hasattr(self._own, "stream"):
            import cupyx

            self._own.stream = self._cupy.cuda.Stream(non_blocking=True)
            self._own.bytes = cupyx.empty_pinned(BYTES_OF_A_CHUNK, dtype=np.uint8)
        return self._own.bytes.view(dtype), self._own.stream
