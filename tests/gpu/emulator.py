"""The CUDA source compiled for this machine's processor: every kernel's logic without a GPU.

A block is one thread and runs after the other; numpy stands in for CuPy.
"""

import ctypes
import shutil
import subprocess
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from threading import Lock

import numpy as np
from scipy.sparse import csr_array

from propkernels.gpu.runtime import DEFINED

C_TYPES = {
    "i4": ctypes.c_int32,
    "u4": ctypes.c_uint32,
    "i8": ctypes.c_int64,
    "u8": ctypes.c_uint64,
    "f8": ctypes.c_double,
}


def compiler() -> str | None:
    """Name of a C++ compiler, or None."""
    return next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), None)


def build(folder: Path) -> Path:
    """Compile the kernels for the host, bounds of loops and arithmetic as on the device."""
    source, library = files("propkernels.gpu").joinpath("kernels.cu"), folder / "kernels.so"
    options = ["-x", "c++", "-std=c++17", "-DPK_HOST", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([compiler(), *options, *DEFINED, str(source), "-o", str(library)], check=True)
    return library


LOCK = Lock()  # the position of a block is a global variable of the library


class HostRuntime:
    """Runs the kernels on numpy arrays."""

    xp = np

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))

    def launch(self, name, blocks, arguments, shared=0):
        with LOCK:
            self.library.set_grid(ctypes.c_uint32(blocks), ctypes.c_size_t(max(shared, 1)))
            getattr(self.library, name)(*(passed(argument) for argument in arguments))

    def to_device(self, array):
        return np.asarray(array)

    def to_host(self, array, dtype=None, room=None):
        return np.asarray(array, dtype=dtype)

    def room(self, shape):
        return None

    def stream(self):
        return nullcontext()

    def add_square(self, factor, total):
        total += factor @ factor.T

    def free_bytes(self):
        return self.memory

    def sparse_matrix(self, values, columns, indptr, n_columns):
        return csr_array((values, columns, indptr), shape=(len(indptr) - 1, n_columns))

    memory = 2**34


def passed(argument):
    """An argument as ctypes passes it; arrays must be contiguous, as on the device."""
    if argument is None:
        return ctypes.c_void_p(0)
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    return C_TYPES[argument.dtype.str[1:]](argument.item())
