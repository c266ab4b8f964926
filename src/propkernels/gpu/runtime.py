"""CUDA runtime: compile kernels.cu once, and launch its kernels on device arrays.

Kernels are compiled at run time by NVRTC, which comes with CuPy: no compiler is needed on the user's machine.
The same source also compiles for the host, so that tests run without a GPU; CuPy provides sorting and matrix
products.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol

import numpy as np

from propkernels._utils.safe_files import packaged_text
from propkernels.gpu.transfer import Transfer

THREADS = 320  # threads of a block, which processes a packet of small graphs
BLOCKS = 132 * 16  # blocks of a kernel that strides over all nodes
CHUNK = 6  # columns whose sums a thread keeps in registers
LISTED = 6  # average number of neighbors per node that fit a packet's shared memory
TILE = 2048  # columns of a Gram matrix that a block places at a time
FEW = 32  # entries of a column whose pairs one warp adds
DEFINED = (f"-DCHUNK={CHUNK}", f"-DLISTED={LISTED}", f"-DTILE={TILE}", f"-DFEW={FEW}")


class Runtime(Protocol):
    """Executor of CUDA kernels: a GPU or, in tests, the host."""

    xp: Any

    def launch(self, name: str, blocks: int, arguments: tuple[Any, ...], shared: int = 0) -> None:
        """Run a kernel; arguments are arrays, None, and numpy scalars of the parameters' types."""

    def to_device(self, array: Any) -> Any:
        """Copy an array to the device; one that is there stays."""

    def to_host(self, array: Any, dtype: Any = None, room: Any = None) -> Any:
        """Copy an array to a numpy array, of another type if wanted, and into ``room`` if it fits."""

    def room(self, shape: tuple[int, ...]) -> Any:
        """Return an array of the host for a later copy."""

    def stream(self) -> AbstractContextManager[Any]:
        """Return a context in which launched kernels do not wait for those of other threads."""

    def add_square(self, factor: Any, total: Any) -> None:
        """Add ``factor @ factor.T`` to a symmetric matrix, at least on and below its diagonal."""

    def free_bytes(self) -> int:
        """Return the free bytes of device memory."""

    def sparse_matrix(self, values: Any, columns: Any, indptr: Any, n_columns: int) -> Any:
        """Return a sparse matrix on the device."""


class CudaRuntime:
    """Executor of CUDA kernels on the current device."""

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
    try:
        import cupy
    except ImportError:
        raise ImportError('device="cuda" needs CuPy: pip install "propkernels[gpu]"') from None
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
def cuda() -> CudaRuntime:
    """Return the runtime of this process."""
    return CudaRuntime()
