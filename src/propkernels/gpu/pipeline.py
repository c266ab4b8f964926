"""The pipeline on the device, for estimators with ``device="cuda"``.

Codes are computed on the device if the coder supports it; otherwise (attributes, a scheme that is not affine,
the Hellinger metric, a filter by Fourier transforms, entries of labels) codes come from the CPU, and only
counting and products run on the device. Results are bit-equal in both cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from propkernels._utils.arrays import index_dtype, rows_of
from propkernels._utils.checks import check_choice
from propkernels._utils.parallel import whole_runs
from propkernels._utils.randomness import mix
from propkernels.counts.counters import StreamCounts, after_known, count_streams
from propkernels.counts.products import inverse_length
from propkernels.gpu.device_codes import DeviceStreams
from propkernels.gpu.device_counts import (
    Columns,
    DeviceRows,
    can_count_slots,
    capacity_for,
    count_columns,
    count_slots,
    row_numbers,
    self_products,
    square_gram,
    vocabulary,
)
from propkernels.gpu.runtime import DeviceGraphs, Runtime, cuda, is_available
from propkernels.gpu.transfer import later_streams

DEVICES = ("cpu", "cuda", "auto")
WORTH_MOVING = 2**18  # number of nodes from which "auto" uses a GPU (an estimate)
BYTES_OF_A_CODE = 40  # device memory per node and stream: code, column, workspace
WORTH_PREPARING = 2**26  # bytes of a kernel matrix from which on memory of the host is prepared
WORTH_NARROWING = 2**22  # bytes of a kernel matrix from which on whole numbers are copied as such
ROWS_AT_ONCE = 1024  # of a kernel matrix that are normalized
SHARE_OF_MEMORY = 0.4  # share of free memory for each of two batches


def resolve_device(device: Any, n_nodes: int) -> Device | None:
    """Return the device to run on, or None for the CPU.

    "cuda" raises an error without a GPU or CuPy; "auto" then uses the CPU, and also for small data.
    """
    check_choice(device, DEVICES, "device")
    if device == "cpu" or (device == "auto" and (n_nodes < WORTH_MOVING or not is_available())):
        return None
    return Device(cuda())


class Device:
    """Interface of the GPU for counting and gram; see ``_utils.parallel.active_device``.

    Where a kernel matrix is expected, counts stay on the device, and reach the host only if they are read.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._room: Any = None
        self._expects_square = False
        self._coded: tuple[list[StreamCounts], DeviceStreams, NDArray[np.int64]] | None = None
        self._rows: DeviceRows | None = None

    @contextmanager
    def square(self, n: int, on_host: bool) -> Iterator[None]:
        """Expect a kernel matrix of n graphs inside the block; memory of the host is prepared from now on."""
        self._expects_square = True
        if on_host and 8 * n * n >= WORTH_PREPARING:
            self._room = self.runtime.room((n, n))
        try:
            yield
        finally:
            self._release_room()
            self._coded = self._rows = None

    def _release_room(self) -> None:
        """Give back memory of the host that nothing was copied to."""
        if self._room is not None:
            self._room.finished()
            self._room = None

    def count(
        self, coder: Any, graphs: Any, known: Sequence[NDArray[np.int64]] | None
    ) -> list[StreamCounts] | None:
        """Return the counts, ``known`` codes first; None if the graphs do not fit the device."""
        if len(list(batches(coder, graphs, self.runtime))) > 1:
            return None
        streams = streams_of(coder, graphs, self.runtime)
        if known is None and self._expects_square and can_count_slots(*streams.codes.shape):
            compute = partial(self._exact_counts, coder, graphs)
            later = later_streams(compute, streams.iterations.tolist(), streams.weights.tolist())
            self._coded = later, streams, graphs.graph_ptr
            return later
        counted = stream_counts(streams, graphs.graph_ptr, self.runtime)
        if known is None:
            return counted
        return [after_known(stream, codes) for stream, codes in zip(counted, known, strict=True)]

    def _exact_counts(self, coder: Any, graphs: Any) -> list[StreamCounts]:
        """Return the counts on the host, from codes that are still on the device or computed again."""
        if self._coded is not None:
            return stream_counts(*self._coded[1:], self.runtime)
        counted = Device(self.runtime).count(coder, graphs, None)
        if counted is None:  # other data has taken the memory of the device
            return count_streams(coder.codes(graphs), graphs.graph_ptr, None)
        return counted

    def square_gram(self, parts: Sequence[csr_array]) -> NDArray[np.float64] | None:
        """Return the sum of Phi Phi^T over count matrices; None if it does not fit the device."""
        if not self._fits(parts[0].shape[0], sum(part.nnz for part in parts)):
            return None
        gram = square_gram(side_by_side(parts, self.runtime), self.runtime)
        return self.to_host(gram, float(gram.diagonal().max()))

    def diagonal(self, streams: Sequence[StreamCounts]) -> NDArray[np.float64] | None:
        """Return the weighted sums of squared counts; None if the counts are on the host."""
        if not self._is_coded(streams):
            return None
        weights = np.array([stream.weight for stream in streams])
        found = self_products(self._slot_rows(), weights, self.runtime)
        return np.asarray(self.runtime.to_host(found))

    def kernel_matrix(
        self, products: Sequence[tuple[float, Sequence[StreamCounts]]], diagonal: NDArray[np.float64] | None
    ) -> Any:
        """Return the weighted sum of Phi Phi^T on the device, normalized by the diagonal if one is given.

        None if it does not fit the device.
        """
        total: Any = None
        for weight, streams in products:
            rows = self._rows_of(streams)
            if not self._fits(len(rows.indptr) - 1, len(rows.columns)):
                self._release_room()
                return None
            part = square_gram(rows, self.runtime)
            if weight != 1.0:
                part *= weight
            total = part if total is None else self.runtime.xp.add(total, part, out=total)
        return total if diagonal is None else self._normalized(total, diagonal)

    def to_host(self, kernel: Any, largest: float | None = None) -> NDArray[np.float64]:
        """Return a kernel matrix copied to the host; if whole numbers, ``largest`` is the largest of them.

        Whole numbers cross the bus in fewer bytes.
        """
        room, self._room = self._room, None
        if largest is not None and largest < 2**31 and kernel.nbytes >= WORTH_NARROWING:
            kernel = kernel.astype(np.uint16 if largest < 2**16 else np.int32)
        return np.asarray(self.runtime.to_host(kernel, np.float64, room))

    def _fits(self, n: int, n_entries: int) -> bool:
        """Whether a matrix of n graphs, its products and that many entries fit the device."""
        return 3 * 8 * n * n + 64 * n_entries <= self.runtime.free_bytes()

    def _normalized(self, kernel: Any, diagonal: NDArray[np.float64]) -> Any:
        """Divide by the square roots of the self-similarities in place, as ``gram.products.normalized``."""
        factors = self.runtime.to_device(inverse_length(diagonal))
        for first in range(0, len(kernel), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            kernel[rows] *= factors[rows, None] * factors[None, :]
        places = self.runtime.xp.arange(len(kernel))
        kernel[places, places] = self.runtime.to_device((diagonal > 0).astype(np.float64))
        return kernel

    def to_device(self, array: NDArray[Any]) -> Any:
        """Return a copy of an array on the device."""
        return self.runtime.to_device(array)

    def sparse_to_device(self, features: csr_array) -> Any:
        """Return a copy of features as a CuPy sparse matrix."""
        data, indices, indptr = map(self.to_device, (features.data, features.indices, features.indptr))
        return self.runtime.sparse_matrix(data, indices, indptr, features.shape[1])

    def _is_coded(self, streams: Sequence[StreamCounts]) -> bool:
        """Whether these are all streams whose codes are on the device."""
        coded = [] if self._coded is None else self._coded[0]
        return len(coded) == len(streams) > 0 and all(map(is_, coded, streams))

    def _slot_rows(self) -> DeviceRows:
        """Return the counts of the codes on the device."""
        assert self._coded is not None
        if self._rows is None:
            _, streams, graph_ptr = self._coded
            self._rows = count_slots(_packed(graph_ptr, streams, self.runtime), streams.codes)
        return self._rows

    def _rows_of(self, streams: Sequence[StreamCounts]) -> DeviceRows:
        """Return counts on the device: those that were coded there, or a copy."""
        if self._is_coded(streams):
            return self._slot_rows()
        return side_by_side([stream.counts for stream in streams], self.runtime)

    def hashed_features(self, coder: Any, graphs: Any, n_features: int) -> csr_array:
        """Return hashed features on the host; many graphs are processed in batches, two at a time.

        While one batch is computed, the results of another are copied.
        """
        runtime = self.runtime

        def one_batch(part: Any) -> csr_array:
            with runtime.stream():
                rows = hashed_rows(streams_of(coder, part, runtime), part.graph_ptr, n_features, runtime)
                indptr, *entries = map(runtime.to_host, (rows.indptr, rows.columns, rows.values))
            index = index_dtype(int(indptr[-1]))  # 32 bits if possible, as scikit-learn requires
            return csr_array((*entries[::-1], indptr.astype(index)), shape=(len(indptr) - 1, n_features))

        parts = list(batches(coder, graphs, runtime))
        with ThreadPoolExecutor(2) as threads:
            contexts = [copy_context() for _ in parts]  # with the number of threads
            results = list(threads.map(lambda own, part: own.run(one_batch, part), contexts, parts))
        return results[0] if len(results) == 1 else csr_array(vstack(results, format="csr"))

    def features_on_device(self, coder: Any, graphs: Any, n_features: int) -> Any:
        """Return features of a fixed width as a CuPy sparse matrix."""
        streams = streams_of(coder, graphs, self.runtime)
        rows = hashed_rows(streams, graphs.graph_ptr, n_features, self.runtime)
        if len(rows.columns) >= 2**31:
            raise ValueError(
                f"the features have {len(rows.columns):,} entries, and CuPy's sparse matrices hold fewer "
                'than 2**31: use output="host", or fewer graphs at a time'
            )
        return self.runtime.sparse_matrix(rows.values, rows.columns, rows.indptr, n_features)


def side_by_side(parts: Sequence[csr_array], runtime: Runtime) -> DeviceRows:
    """Return count matrices side by side as one matrix on the device."""
    whole = csr_array(hstack(parts, format="csr"))
    arrays = whole.indptr.astype(np.int64), whole.indices.astype(np.int32), whole.data
    indptr, columns, values = map(runtime.to_device, arrays)
    return DeviceRows(indptr, columns, values, max(whole.shape[1], 1))


def streams_of(coder: Any, graphs: Any, runtime: Runtime) -> DeviceStreams:
    """Return the codes of graphs on the device, computed there or copied."""
    found: DeviceStreams | None = coder.device_streams(graphs, runtime)
    if found is not None:
        return found
    streams = [stream for block in coder.codes(graphs) for stream in block.streams()]
    codes = np.array([codes for _, _, codes in streams]).reshape(len(streams), graphs.n_nodes)
    iterations = np.array([t for t, _, _ in streams], dtype=np.int64)
    return DeviceStreams(runtime.to_device(codes), iterations, np.array([weight for _, weight, _ in streams]))


def hashed_rows(streams: DeviceStreams, graph_ptr: Any, n_features: int, runtime: Runtime) -> DeviceRows:
    """Return features of a fixed width on the device, as ``counting.columns.hashed_columns`` does."""
    t = streams.iterations  # ascending; the second word is the number of a stream within its iteration
    words = mix(t, np.arange(len(t)) - np.searchsorted(t, t))
    columns = Columns(n_features, words=runtime.to_device(words))
    return count_columns(_packed(graph_ptr, streams, runtime), streams.codes, columns, streams.scale)


def stream_counts(streams: DeviceStreams, graph_ptr: Any, runtime: Runtime) -> list[StreamCounts]:
    """Return the counts of each stream on the host, one column per bin, ordered by code.

    Entries of a row are sorted by column, and so by stream: a stable sort by stream leaves rows in order. The
    host only cuts what is copied.
    """
    xp, n, n_streams = runtime.xp, len(graph_ptr) - 1, len(streams.codes)
    if not n_streams:
        return []
    listed, bins = vocabulary(streams.codes, runtime)
    in_bins = Columns(max(sum(map(len, bins)), 1), listed=listed)
    rows = count_columns(_packed(graph_ptr, streams, runtime), None, in_bins, 1.0)
    ends = np.cumsum([0, *map(len, bins)])
    starts = runtime.to_device(ends.astype(np.int32))
    stream_of = xp.searchsorted(starts[1:], rows.columns, side="right")
    lengths = xp.bincount(stream_of * n + row_numbers(rows, xp), minlength=n_streams * n)
    offsets = xp.zeros((n_streams, n + 1), dtype=xp.int32)
    offsets[:, 1:] = xp.cumsum(lengths.reshape(n_streams, n), axis=1)
    order = xp.argsort(stream_of.astype(xp.int16 if n_streams < 2**15 else xp.int32), kind="stable")
    sorted_entries = (rows.columns - starts[stream_of])[order], rows.values[order]
    columns, values = map(runtime.to_host, sorted_entries)
    indptr, codes = runtime.to_host(offsets), runtime.to_host(xp.concatenate(bins))
    first = np.cumsum([0, *indptr[:, -1].tolist()]).tolist()
    counted = []
    for s, (a, b) in enumerate(pairwise(ends.tolist())):
        entries = slice(first[s], first[s + 1])
        matrix = rows_of(values[entries], columns[entries], indptr[s], (n, b - a))
        t, weight = int(streams.iterations[s]), float(streams.weights[s])
        counted.append(StreamCounts(matrix, codes[a:b], t, weight))
    return counted


def batches(coder: Any, graphs: Any, runtime: Runtime) -> Iterator[Any]:
    """Yield runs of graphs, two of which fit the device together."""
    per_node = BYTES_OF_A_CODE * max(coder.n_streams, 1)
    most = max(SHARE_OF_MEMORY * runtime.free_bytes() / per_node, 1.0)
    if graphs.n_nodes <= most:
        yield graphs
        return
    for first, last in pairwise(whole_runs(graphs.graph_ptr, most).tolist()):
        yield graphs[first:last]


def _packed(graph_ptr: Any, streams: DeviceStreams, runtime: Runtime) -> DeviceGraphs:
    """Return graphs for kernels that use only their sizes: those of the codes, or others without edges."""
    capacity = capacity_for(len(streams.iterations))
    if streams.graphs is not None and streams.graphs.capacity == capacity:
        return streams.graphs
    return DeviceGraphs(runtime, np.asarray(graph_ptr, dtype=np.int64), capacity=capacity)
