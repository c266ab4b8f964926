"""Label codes on the device, from the same scheme, prior and hash as on the CPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from propkernels.codes.codes import LocalitySensitiveHash, in_key_order, stream_numbers
from propkernels.gpu.device_codes import DeviceOperator, DeviceStreams, propagated_codes, refined_codes
from propkernels.gpu.device_grids import MOST_DIMENSIONS, grid_codes
from propkernels.gpu.packets import DeviceGraphs
from propkernels.gpu.runtime import Runtime
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
