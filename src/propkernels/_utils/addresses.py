"""Arrays of different lengths for compiled loops, and BLAS for compiled loops, by their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic, overload
from numpy.typing import NDArray


class Arrays(NamedTuple):
    """Addresses and lengths of one-dimensional arrays of one type, for :func:`array_at`.

    The arrays must stay alive while the addresses are used.

    Attributes
    ----------
    addresses, lengths : ndarray of int64, (arrays,)
    like : ndarray, (0,)
        An empty array of the same type.
    """

    addresses: NDArray[np.int64]
    lengths: NDArray[np.int64]
    like: NDArray[Any]

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]], dtype: Any = None) -> Arrays:
        """Return the addresses of contiguous arrays of the same type, by default that of the first one."""
        like = np.empty(0, dtype=arrays[0].dtype if dtype is None else dtype)
        assert all(array.dtype == like.dtype and array.flags.c_contiguous for array in arrays)
        addresses = [array.__array_interface__["data"][0] for array in arrays]
        lengths = [len(array) for array in arrays]
        return cls(np.array(addresses, dtype=np.int64), np.array(lengths, dtype=np.int64), like)


def alike(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return arrays of the same type, contiguous; copies only where they are not."""
    dtype = np.result_type(*{array.dtype for array in arrays})
    return [np.ascontiguousarray(array, dtype=dtype) for array in arrays]


def array_at(arrays: Any, k: Any) -> Any:
    """Return array k, without a copy; for compiled loops.

    Examples
    --------
    >>> some = [np.arange(3), np.arange(10, 12)]
    >>> array_at(Arrays.of(some), 1)
    array([10, 11])
    """
    n_bytes = int(arrays.lengths[k]) * arrays.like.itemsize
    buffer = (ctypes.c_char * n_bytes).from_address(int(arrays.addresses[k])) if n_bytes else b""
    return np.frombuffer(buffer, dtype=arrays.like.dtype)


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    """Emit the conversion of an integer to a pointer."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), emit


@overload(array_at, strict=False)
def _compiled_array_at(arrays: Any, k: Any) -> Any:
    """Return the compiled form of :func:`array_at`."""
    return lambda arrays, k: carray(_pointer(arrays.addresses[k]), (arrays.lengths[k],), arrays.like.dtype)


@cache
def gemm_address(dtype: Any) -> int:
    """Return the address of the matrix product of BLAS for float32 or float64."""
    name = {"float32": "sgemm", "float64": "dgemm"}[np.dtype(dtype).name]
    return int(get_cython_function_address("scipy.linalg.cython_blas", name))


def multiply(gemm: Any, left: Any, right: Any, product: Any) -> None:
    """Write ``left.T @ right`` to ``product``; for compiled loops.

    Rows of the matrices may be parts of longer rows.

    Parameters
    ----------
    gemm : int
        From :func:`gemm_address`.
    left, right, product : ndarray, (k, m), (k, n) and (m, n), of the type of ``gemm``
        None is empty.

    Examples
    --------
    >>> product = np.empty((1, 2))
    >>> multiply(gemm_address(float), np.array([[2.0], [1.0]]), np.eye(2), product)
    >>> product
    array([[2., 1.]])
    """
    product[...] = left.T @ right


@intrinsic
def _emit_gemm(typing_context: Any, gemm: Any, left: Any, right: Any, product: Any) -> Any:
    """Emit a call of gemm: in its order, by columns, product^T (n, m) = right^T (n, k) left (k, m)."""
    from llvmlite import ir

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, word = context.get_value_type(left.dtype), ir.IntType(32)
        left_, right_, product_ = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
        )

        def stored(value: Any) -> Any:
            return cgutils.alloca_once_value(builder, value)

        def width(array: Any) -> Any:  # numbers from one row to the next
            return builder.sdiv(builder.extract_value(array.strides, 0), array.itemsize)

        def size(value: Any) -> Any:
            return stored(builder.trunc(value, word))

        k, m = (builder.extract_value(left_.shape, axis) for axis in (0, 1))
        n = builder.extract_value(right_.shape, 1)
        plain, turned = (stored(ir.Constant(ir.IntType(8), ord(letter))) for letter in "NT")
        one, zero = (stored(ir.Constant(number, value)) for value in (1.0, 0.0))
        values = (
            [plain, turned, size(n), size(m), size(k), one, right_.data, size(width(right_))]
            + [left_.data, size(width(left_)), zero, product_.data, size(width(product_))]
        )  # fmt: skip
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), values)
        return context.get_dummy_value()

    return types.void(types.int64, left, right, product), emit


@overload(multiply, strict=False)
def _compiled_multiply(gemm: Any, left: Any, right: Any, product: Any) -> Any:
    """Return the compiled form of :func:`multiply`."""
    return lambda gemm, left, right, product: _emit_gemm(gemm, left, right, product)
