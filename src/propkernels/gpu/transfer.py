"""Copies between host and device memory through pinned buffers, in threads.

A plain copy of pageable memory goes through one small buffer of the driver. Several threads with a pinned
buffer and a CUDA stream each keep the bus busy: while one chunk crosses it, others are copied on either side.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS_OF_A_COPY = min(16, os.cpu_count() or 1)
BYTES_OF_A_CHUNK = 2**24
WORTH_PINNING = 2**26  # bytes from which on a copy is cut into chunks


class Transfer:
    """Copies arrays between host and device; pinned buffers are allocated once per thread."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._own = local()
        self._threads = ThreadPoolExecutor(THREADS_OF_A_COPY, thread_name_prefix="propkernels-copy")

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

    def to_host(self, array: Any, dtype: Any = None) -> NDArray[Any]:
        """Return an array copied from the device after pending work, optionally converted to a dtype.

        Threads convert chunks after the copy, so that integers can cross the bus in few bytes.
        """
        cupy = self._cupy
        if array.nbytes < WORTH_PINNING:
            return np.asarray(array.get(), dtype=dtype)
        target = np.empty(array.shape, dtype=array.dtype if dtype is None else dtype)
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
