"""Attribute codes on the device, joined with label codes: h = h_l and h_a (Algorithm 4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import mix
from propkernels.codes.attribute_codes import MISSING, AttributeCoder
from propkernels.codes.codes import LocalitySensitiveHash
from propkernels.gpu.device_codes import DeviceStreams
from propkernels.gpu.runtime import BLOCKS, Runtime


def attribute_streams(
    coder: AttributeCoder, graphs: Any, labels: DeviceStreams, runtime: Runtime
) -> DeviceStreams:
    """Return label streams joined with attribute codes, as ``AttributeCoder.join`` does.

    The matrices to hash are computed on the CPU, one per iteration.
    """
    attributes = coder.standardizer(graphs)
    iterations = np.unique(labels.iterations)
    matrices = islice(coder.learned.matrices(graphs, attributes), len(iterations))
    rows, found = [], []
    for t, matrix in zip(iterations.tolist(), matrices, strict=True):
        own = np.flatnonzero(labels.iterations == t)
        for lsh in (coder.lsh, *coder.further):
            values = np.sqrt(np.maximum(matrix, 0.0)) if lsh.takes_root else matrix
            columns = runtime.to_device(np.ascontiguousarray(values.T, dtype=np.float64))
            for h, stream in enumerate(own):
                joined = list(_joined(coder.combine, lsh, t, h, columns, labels.codes[stream], runtime))
                rows += joined
                found += [(t, float(labels.weights[stream]))] * len(joined)
    codes = runtime.xp.stack(rows) if rows else labels.codes[:0]
    numbers = np.array([t for t, _ in found], dtype=np.int64)
    return DeviceStreams(codes, numbers, np.array([weight for _, weight in found]))


def _joined(
    combine: str, lsh: LocalitySensitiveHash, t: int, h: int, columns: Any, labels: Any, runtime: Runtime
) -> Iterator[Any]:
    """Yield the codes of one label hash: one stream per column ("sum"), or one for all columns."""
    xp, stream = runtime.xp, np.array([(t << 32) + h])
    keys = mix(np.arange(len(columns)))
    vectors = lsh.vectors(keys, stream)[:, 0]
    if combine == "joint":
        projected = xp.zeros(len(labels))
        for column, weight in zip(columns, vectors, strict=True):
            projected = projected + column * weight
        yield _hash_and_join(labels, projected, 1.0, lsh.offsets(stream)[0], runtime)
        return
    offsets = lsh.own_offsets(keys, int(stream[0]))
    if combine == "sum":
        for column, vector, offset in zip(columns, vectors, offsets, strict=True):
            yield _hash_and_join(labels, column, vector, offset, runtime)
        return
    product = xp.zeros(len(labels), dtype=xp.int64)
    for column, vector, offset in zip(columns, vectors, offsets, strict=True):
        product = _hash_and_join(product, column, vector, offset, runtime)
    joined = xp.empty_like(product)
    runtime.launch("join_codes", BLOCKS, (labels, product, np.int64(len(labels)), joined))
    yield joined


def _hash_and_join(
    codes: Any, column: Any, vector: NDArray[Any] | float, offset: NDArray[Any] | float, runtime: Runtime
) -> Any:
    """Return codes joined with the hash of a column of values."""
    joined = runtime.xp.empty(len(codes), dtype=runtime.xp.int64)
    numbers = (np.float64(vector), np.float64(offset), np.int64(MISSING), np.int64(len(codes)))
    runtime.launch("hash_and_join", BLOCKS, (codes, column, *numbers, joined))
    return joined
