"""CUDA runtime: compile kernels.cu once, and launch its kernels on device arrays; graphs on the device.

Kernels are compiled at run time by NVRTC, which comes with CuPy: no compiler is needed on the user's machine.
The same source also compiles for the host, so that tests run without a GPU; CuPy provides sorting and matrix
products.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import offsets
from propkernels._utils.locks import cached_property
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import packaged_text
from propkernels.gpu.transfer import Transfer

THREADS = 320  # threads of a block, which processes a packet of small graphs
BLOCKS = 132 * 16  # blocks of a kernel that strides over all nodes
CHUNK = 6  # columns whose sums a thread keeps in registers
LISTED = 6  # average number of neighbors per node that fit a packet's shared memory
TILE = 2048  # columns of a Gram matrix that a block places at a time
FEW = 32  # entries of a column whose pairs one warp adds
DEFINED = (f"-DCHUNK={CHUNK}", f"-DLISTED={LISTED}", f"-DTILE={TILE}", f"-DFEW={FEW}")


class Runtime:
    """Executor of CUDA kernels on the current device; tests have one on the host, with the same methods."""

    def __init__(self) -> None:
        self.xp = import_cupy()
        self._transfer = Transfer(self.xp)

    def launch(self, name: str, blocks: int, arguments: tuple[Any, ...], shared: int = 0) -> None:
        """Run a kernel on ``blocks`` blocks, with some bytes of shared memory each."""
        if blocks == 0:
            return
        kernel = _kernel(name)
        if shared > 48 * 1024:
            kernel.max_dynamic_shared_size_bytes = shared
        null = np.uint64(0)
        passed = tuple(null if argument is None else argument for argument in arguments)
        kernel((blocks,), (THREADS,), passed, shared_mem=shared)

    def to_device(self, array: Any) -> Any:
        """Copy an array to the device; one that is there stays."""
        return array if isinstance(array, self.xp.ndarray) else self._transfer.to_device(np.asarray(array))

    def to_host(self, array: Any, dtype: Any = None, room: Any = None) -> Any:
        """Copy an array to a numpy array, of another type if wanted, and into ``room`` if it fits."""
        return self._transfer.to_host(array, dtype, room)

    def room(self, shape: tuple[int, ...]) -> Any:
        """Return an array of the host for a later copy, whose pages are prepared from now on."""
        return self._transfer.room(shape)

    def stream(self) -> AbstractContextManager[Any]:
        """Return a context in which launched kernels do not wait for those of other threads."""
        return self.xp.cuda.Stream(non_blocking=True)

    def add_square(self, factor: Any, total: Any) -> None:
        """Add ``factor @ factor.T`` on and below the diagonal, half of the whole product."""
        from cupy.cublas import syrk

        syrk("N", factor, out=total, beta=1.0, lower=True)

    def free_bytes(self) -> int:
        """Return the free bytes of device memory, including CuPy's unused pool."""
        pool = self.xp.get_default_memory_pool()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + pool.free_bytes())

    def sparse_matrix(self, values: Any, columns: Any, indptr: Any, n_columns: int) -> Any:
        """Return a CuPy CSR matrix."""
        from cupyx.scipy.sparse import csr_matrix

        shape = (len(indptr) - 1, n_columns)
        return csr_matrix((values, columns, indptr.astype(self.xp.int32)), shape=shape)


@cache
def _module() -> Any:
    cupy = import_cupy()
    source = packaged_text("gpu", "kernels.cu")
    options = ("--std=c++17", "--fmad=false", *DEFINED)
    return cupy.RawModule(code=source, options=options)


@cache
def _kernel(name: str) -> Any:
    return _module().get_function(name)


def import_cupy() -> Any:
    """Return CuPy; raise an error if the package or a GPU is missing."""
    cupy = import_optional("cupy", extra="gpu", purpose='device="cuda" needs')
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        n_devices = 0
    if n_devices == 0:
        raise RuntimeError('device="cuda" needs an NVIDIA GPU, and none was found: use device="cpu"')
    return cupy


def is_available() -> bool:
    """Whether CuPy and a GPU are available."""
    try:
        import_cupy()
    except (ImportError, RuntimeError):
        return False
    return True


@cache
def cuda() -> Runtime:
    """Return the runtime of this process."""
    return Runtime()


CAPACITY = 320  # nodes of a packet


@dataclass(frozen=True)
class DeviceGraphs:
    """Adjacency and offsets of many graphs on the device.

    Attributes
    ----------
    runtime : Runtime
    offsets : ndarray of int64, (n + 1,)
        First node of each graph, on the host: what is cut and listed here needs no answer of the device.
    indptr, indices : device arrays of int32
    weights : device array of float64, or None
        Weight of each stored entry; None: all 1.
    capacity : int
        Largest number of nodes of a packet.
    """

    runtime: Runtime
    offsets: NDArray[np.int64]
    indptr: Any = None
    indices: Any = None
    weights: Any = None
    capacity: int = CAPACITY

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.offsets) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.offsets[-1])

    @cached_property
    def graph_ptr(self) -> Any:
        """The offsets on the device."""
        return self.runtime.to_device(self.offsets)

    @cached_property
    def packets(self) -> Any:
        """First graph of each packet, followed by the number of graphs; a device array of int32.

        A packet takes graphs as long as their nodes do not exceed the capacity; a larger graph is alone.
        """
        ends, packets = self.offsets.tolist(), [0]
        while len(packets) == 1 or packets[-1] < self.n_graphs:
            most = ends[packets[-1]] + self.capacity
            packets.append(min(max(bisect_right(ends, most) - 1, packets[-1] + 1), self.n_graphs))
        return self.runtime.to_device(np.array(packets, dtype=np.int32))

    @property
    def n_packets(self) -> int:
        """Number of packets."""
        return len(self.packets) - 1

    @cached_property
    def large_nodes(self) -> LargeNodes | None:
        """Nodes of graphs larger than a packet, or None."""
        sizes = np.diff(self.offsets)
        graphs = np.flatnonzero(sizes > self.capacity).astype(np.int32)
        if not len(graphs):
            return None
        starts, xp = offsets(sizes[graphs]), self.runtime.xp
        nodes, graph_of = xp.empty(starts[-1], dtype=xp.int64), xp.empty(starts[-1], dtype=xp.int32)
        where = (self.runtime.to_device(graphs), self.runtime.to_device(starts), np.int64(len(graphs)))
        self.runtime.launch("list_large", len(graphs), (self.graph_ptr, *where, nodes, graph_of))
        return LargeNodes(graphs, starts, nodes, graph_of)


@dataclass(frozen=True)
class LargeNodes:
    """Nodes of graphs larger than a packet.

    Attributes
    ----------
    graphs : ndarray of int32
        Numbers of these graphs, on the host.
    starts : ndarray of int64, (graphs + 1,)
        Where the nodes of each begin among ``nodes``, on the host.
    nodes : device array of int64
        Their nodes.
    graph_of : device array of int32
        Graph of each of these nodes.
    """

    graphs: NDArray[np.int32]
    starts: NDArray[np.int64]
    nodes: Any
    graph_of: Any
