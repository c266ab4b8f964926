"""Codes of labels and attributes on the device, from the same scheme, prior and hash as on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import mix
from propkernels.codes.attribute_codes import MISSING, AttributeCoder
from propkernels.codes.codes import LocalitySensitiveHash, in_key_order, stream_numbers
from propkernels.gpu.device_codes import DeviceOperator, DeviceStreams, propagated_codes, refined_codes
from propkernels.gpu.device_grids import MOST_DIMENSIONS, grid_codes
from propkernels.gpu.runtime import BLOCKS, DeviceGraphs, Runtime
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.edge_labels import EdgeFactors, crossed_edges
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import AffineOperator, Diffusion, PropagationScheme


def label_streams(
    graphs: Any,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    lsh: LocalitySensitiveHash,
    t_max: int,
    n_hashes: int,
    runtime: Runtime,
    edge_factors: EdgeFactors | None = None,
) -> DeviceStreams | None:
    """Return label codes computed on the device, by streams; None if only the CPU can compute them.

    Not supported are schemes that are not affine, the Hellinger metric, which takes a root first, and filters
    applied by Fourier transforms.
    """
    if not scheme.affine or lsh.takes_root:
        return None
    streams, iterations = stream_numbers(t_max, n_hashes), np.repeat(np.arange(t_max + 1), n_hashes)
    weights = np.full(len(iterations), 1.0 / n_hashes)
    initial, keys = in_key_order(initial)
    prepared = None if is_plain_walk(scheme, graphs) else scheme.prepare(graphs, initial)
    arrays = (_narrow(initial.rows), initial.table @ lsh.vectors(keys, streams), lsh.offsets(streams))
    rows, projected, offsets = (runtime.to_device(np.ascontiguousarray(array)) for array in arrays)
    if isinstance(prepared, GridOperator) and edge_factors is None and _can_filter(prepared):
        codes = grid_codes(prepared, rows, projected, offsets, n_hashes, runtime)
        return DeviceStreams(codes, iterations, weights)
    if not (prepared is None or isinstance(prepared, AffineOperator)):
        return None
    operator, adjacency, is_unweighted = DeviceOperator(), graphs.adjacency, True
    if prepared is not None:
        adjacency, is_unweighted = prepared.adjacency, bool(prepared.is_unweighted)
        operator = device_operator(prepared, runtime)
    if edge_factors is not None:
        edges = crossed_edges(graphs, getattr(scheme, "direction", "follow"))
        factors = edge_factors.draw(edges.keys, streams, np.arange(1, t_max + 1))
        copies = (runtime.to_device(np.ascontiguousarray(array)) for array in (edges.kinds, factors))
        operator = replace(operator, **dict(zip(("kinds", "factors"), copies, strict=True)))
    where = device_graphs(graphs.graph_ptr, adjacency, runtime, is_unweighted)
    codes = propagated_codes(where, operator, rows, projected, offsets, n_hashes)
    return DeviceStreams(codes, iterations, weights, where)


def is_plain_walk(scheme: PropagationScheme, graphs: Any) -> bool:
    """Whether a step is the walk along edges of weight 1, whose weights the kernels know from degrees."""
    if type(scheme) is not Diffusion or not isinstance(graphs, GraphDatabase) or scheme.laziness is False:
        return False
    settings = (scheme.laziness, scheme.normalization, scheme.isolated, scheme.direction)
    return settings == (0.0, "row", "stay", "follow") and graphs.is_unweighted


def _can_filter(operator: GridOperator) -> bool:
    return operator.path != "fourier" and operator.grids.dimension <= MOST_DIMENSIONS


def device_graphs(graph_ptr: Any, adjacency: Any, runtime: Runtime, is_unweighted: bool) -> DeviceGraphs:
    """Return graphs copied to the device."""
    weights = None if is_unweighted else runtime.to_device(adjacency.data)
    indptr, indices = (runtime.to_device(_narrow(array)) for array in (adjacency.indptr, adjacency.indices))
    return DeviceGraphs(runtime, np.asarray(graph_ptr, dtype=np.int64), indptr, indices, weights)


def _narrow(array: Any) -> Any:
    """Return an array as int32, as the kernels require; a batch has fewer than 2^31 entries (``batches``)."""
    return np.ascontiguousarray(array, dtype=np.int32)


def device_operator(operator: AffineOperator, runtime: Runtime) -> DeviceOperator:
    """Return an affine step copied to the device."""
    fields = (operator.spread, operator.keep, operator.restart, operator.pushed_back, operator.vanished)
    copies = (None if field is None else runtime.to_device(np.ascontiguousarray(field)) for field in fields)
    return DeviceOperator(*copies)


def refinement_streams(
    graphs: Any, node_keys: Any, edge_keys: Any, t_max: int, runtime: Runtime
) -> DeviceStreams:
    """Return Weisfeiler-Lehman codes with their iterations."""
    where = device_graphs(graphs.graph_ptr, graphs.adjacency, runtime, graphs.is_unweighted)
    edges = None if edge_keys is None else runtime.to_device(edge_keys)
    codes = refined_codes(where, runtime.to_device(node_keys), edges, t_max)
    return DeviceStreams(codes, np.arange(t_max + 1), np.ones(t_max + 1), where)


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
