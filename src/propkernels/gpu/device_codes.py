"""Codes on the device: propagation and hashing of projected values, and Weisfeiler-Lehman refinement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.codes.codes import LocalitySensitiveHash, in_key_order, stream_numbers
from propkernels.gpu.runtime import BLOCKS, CHUNK, LISTED, DeviceGraphs, Runtime
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.neighborhoods import BOUNDARIES
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import (
    AffineOperator,
    Diffusion,
    EdgeFactors,
    PropagationScheme,
    crossed_edges,
    edges_of_operator,
)


@dataclass(frozen=True)
class DeviceOperator:
    """Affine step on the device; see :class:`propkernels.propagation.schemes.AffineOperator`.

    Without ``spread`` and ``keep``, it is the random walk: spread is 1 / degree, and a node without edges
    keeps its value. ``kinds`` and ``factors``, (steps, labels, streams), are those of edge labels, if used.
    """

    spread: Any = None
    keep: Any = None
    restart: Any = None
    pushed_back: Any = None
    vanished: Any = None
    kinds: Any = None
    factors: Any = None


class DeviceStreams(NamedTuple):
    """Codes on the device, (streams, N), with the iteration and weight of each stream.

    ``graphs``, if known, are those of the codes, whose packets need not be cut again.
    """

    codes: Any
    iterations: NDArray[np.int64]
    weights: NDArray[np.float64]
    graphs: DeviceGraphs | None = None

    @property
    def scale(self) -> float:
        """Square root of the weight, which all streams share."""
        return float(np.sqrt(self.weights[0])) if len(self.weights) else 1.0


def propagated_codes(
    graphs: DeviceGraphs, operator: DeviceOperator, rows: Any, projected: Any, offsets: Any, n_hashes: int
) -> Any:
    """Return codes, (streams, N): the loop over t of Algorithm 3 on the device.

    Parameters
    ----------
    graphs : DeviceGraphs
    operator : DeviceOperator
    rows : device array of int32, (N,)
        Row of ``projected`` of each node.
    projected : device array of float64, (rows, streams)
    offsets : device array of float64, (streams,)
    n_hashes : int
        Streams per iteration.
    """
    runtime, n_streams = graphs.runtime, len(offsets)
    codes = runtime.xp.empty((n_streams, graphs.n_nodes), dtype=runtime.xp.int64)
    o = operator
    n_kinds = np.int32(0 if o.factors is None else o.factors.shape[1])
    runtime.launch(
        "propagate_and_hash" if o.factors is None else "propagate_labeled",
        graphs.n_packets,
        (
            *(graphs.packets, graphs.graph_ptr, graphs.indptr, graphs.indices, graphs.weights),
            *(o.spread, o.keep, o.restart, o.pushed_back, o.vanished, o.kinds, o.factors, n_kinds),
            *(rows, projected, offsets),
            *map(np.int32, (n_streams, n_hashes, graphs.capacity)),
            *(np.int64(graphs.n_nodes), codes),
        ),
        shared=(8 * (2 * CHUNK + 2) + 4 + 2 * LISTED) * graphs.capacity + 8,
    )
    if graphs.large_nodes is not None:
        _propagate_large(graphs, operator, rows, projected, offsets, n_hashes, codes)
    return codes


def _propagate_large(
    graphs: DeviceGraphs,
    operator: DeviceOperator,
    rows: Any,
    projected: Any,
    offsets: Any,
    n_hashes: int,
    codes: Any,
) -> None:
    """Write the codes of graphs larger than a packet, with one launch per step."""
    runtime, large, o = graphs.runtime, graphs.large_nodes, operator
    assert large is not None
    n_large, n_streams = np.int64(len(large.nodes)), np.int32(len(offsets))
    now, then = runtime.xp.empty((2, int(n_large), int(n_streams)))
    nodes = (large.nodes, n_large, graphs.indptr, graphs.indices, graphs.weights)
    weights = (o.spread, o.keep, o.restart, o.pushed_back, o.vanished, o.kinds)
    for t in range(len(offsets) // n_hashes):
        factors = None if o.factors is None or t == 0 else o.factors[t - 1]
        numbers = (t, t * n_hashes, (t + 1) * n_hashes)
        streams = (rows, projected, offsets, n_streams, *map(np.int32, numbers), np.int64(graphs.n_nodes))
        runtime.launch("large_step", BLOCKS, (*nodes, *weights, factors, *streams, now, then, codes))
        now, then = then, now


def refined_codes(graphs: DeviceGraphs, node_keys: Any, edge_keys: Any, t_max: int) -> Any:
    """Return Weisfeiler-Lehman codes, (t_max + 1, N), from 64-bit node keys; ``edge_keys`` may be None."""
    runtime, n_nodes = graphs.runtime, np.int64(graphs.n_nodes)
    codes = runtime.xp.empty((t_max + 1, graphs.n_nodes), dtype=runtime.xp.uint64)
    codes[0] = node_keys
    arrays = (graphs.indptr, graphs.indices, edge_keys)
    sizes = (np.int32(t_max + 1), np.int32(graphs.capacity), n_nodes)
    arguments = (graphs.packets, graphs.graph_ptr, *arrays, *sizes, codes)
    runtime.launch("refine", graphs.n_packets, arguments, shared=2 * graphs.capacity * 8)
    if (large := graphs.large_nodes) is not None:
        nodes = (large.nodes, np.int64(len(large.nodes)))
        for t in range(1, t_max + 1):
            runtime.launch("large_refine", BLOCKS, (*nodes, *arrays, codes[t - 1], codes[t]))
    signed = codes.view(runtime.xp.int64)
    runtime.launch("replace_no_bin", BLOCKS, (signed, np.int64(signed.size)))
    return signed


MOST_DIMENSIONS = 8  # of an image: kernels.cu keeps a position in 8 registers


@dataclass(frozen=True)
class DeviceFilter:
    """Pixels of all images, and the filter, on the device."""

    runtime: Runtime
    operator: GridOperator
    image_of: Any
    pixel_ptr: Any
    shapes: Any
    offsets: Any
    group_ptr: Any
    weights: Any

    @classmethod
    def of(cls, operator: GridOperator, runtime: Runtime) -> DeviceFilter:
        """Return the filter and pixels of an operator, copied to the device."""
        grids, taps, xp = operator.grids, operator.taps, runtime.xp
        pixel_ptr = runtime.to_device(np.asarray(grids.pixel_ptr, dtype=np.int64))
        pixels = xp.arange(int(grids.pixel_ptr[-1]))
        image_of = (xp.searchsorted(pixel_ptr, pixels, side="right") - 1).astype(xp.int32)
        narrow = (array.astype(np.int32) for array in (grids.shapes, taps.offsets, taps.group_ptr))
        device: Any = [runtime.to_device(np.ascontiguousarray(array)) for array in (*narrow, taps.weights)]
        return cls(runtime, operator, image_of, pixel_ptr, *device)

    @property
    def n_pixels(self) -> int:
        """Number of pixels, counted or not."""
        return len(self.image_of)

    def apply(self, now: Any, first_stream: int, n_streams: int) -> Any:
        """Return B x for the streams from ``first_stream`` on, stage by stage."""
        taps, grids = self.operator.taps, self.operator.grids
        where = (self.image_of, self.pixel_ptr, self.shapes, np.int32(grids.dimension))
        for first, last in zip(taps.stage_ptr, taps.stage_ptr[1:], strict=False):
            target = self.runtime.xp.empty_like(now)
            groups = (self.offsets, self.group_ptr, self.weights, np.int32(first), np.int32(last))
            streams = (np.int32(first_stream), np.int32(n_streams), np.int64(self.n_pixels))
            boundary = np.int32(BOUNDARIES.index(self.operator.boundary))
            self.runtime.launch("grid_filter", BLOCKS, (*where, *groups, boundary, *streams, now, target))
            now = target
        return now

    def step_weights(self, pixels: Any) -> tuple[Any, Any]:
        """Return ``spread`` and ``keep`` of each pixel; ``keep`` is None if no pixel keeps its value."""
        xp, operator = self.runtime.xp, self.operator
        counted = xp.zeros(self.n_pixels)
        counted[pixels] = 1.0
        keeps = xp.zeros(self.n_pixels, dtype=bool)
        if len(operator.held):
            keeps[pixels] = self.runtime.to_device(operator.held)
        spread = counted.copy()
        if operator.boundary == "renormalize":
            mass = self.apply(counted[None], 0, 1)[0]
            keeps |= (mass == 0.0) & (counted > 0)
            spread = xp.where(counted > 0, 1.0 / xp.where(mass == 0.0, 1.0, mass), 0.0)
        spread = xp.where(keeps, 0.0, spread)
        return spread, keeps.astype(xp.float64) if bool(keeps.any()) else None


def grid_codes(
    operator: GridOperator, rows: Any, projected: Any, offsets: Any, n_hashes: int, runtime: Runtime
) -> Any:
    """Return the codes of all counted pixels, (streams, N), bit-equal to ``codes.grid_codes``.

    Filters applied by Fourier transforms are not supported: their sums round differently.
    """
    xp, grids, n_streams = runtime.xp, operator.grids, np.int32(len(offsets))
    if grids.inside is None:  # the pixel of each node
        pixels = xp.arange(int(grids.pixel_ptr[-1]), dtype=xp.int64)
    else:
        pixels = xp.flatnonzero(runtime.to_device(grids.inside)).astype(xp.int64)
    bank = DeviceFilter.of(operator, runtime)
    spread, keep = bank.step_weights(pixels)
    pushed = runtime.to_device(operator.pushed_back) if len(operator.pushed_back) else None
    n_nodes, n_pixels = np.int64(len(pixels)), np.int64(bank.n_pixels)
    now = xp.zeros((int(n_streams), bank.n_pixels))
    codes = xp.empty((int(n_streams), int(n_nodes)), dtype=xp.int64)
    start = (pixels, n_nodes, rows, projected, n_streams, n_pixels)
    runtime.launch("grid_start", BLOCKS, (*start, now))
    for t in range(len(offsets) // n_hashes):
        first, last = np.int32(t * n_hashes), np.int32((t + 1) * n_hashes)
        if t > 0:
            then = bank.apply(now, int(first), int(n_streams))
            runtime.launch("grid_weigh", BLOCKS, (spread, keep, first, n_streams, n_pixels, now, then))
            now = then
        given = (pixels, n_nodes, pushed, rows, projected, offsets, n_streams, first, last, n_pixels)
        runtime.launch("grid_hash", BLOCKS, (*given, now, codes))
    return codes


def label_streams(
    runtime: Runtime,
    graphs: Any,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    lsh: LocalitySensitiveHash,
    t_max: int,
    n_hashes: int,
    edge_factors: EdgeFactors | None,
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
    if isinstance(prepared, GridOperator):
        if prepared.path == "fourier" or edge_factors or prepared.grids.dimension > MOST_DIMENSIONS:
            return None
        codes = grid_codes(prepared, rows, projected, offsets, n_hashes, runtime)
        return DeviceStreams(codes, iterations, weights)
    if not (prepared is None or isinstance(prepared, AffineOperator)):
        return None
    operator, adjacency, is_unweighted = DeviceOperator(), graphs.adjacency, True
    if prepared is not None:
        adjacency, is_unweighted = prepared.adjacency, bool(prepared.is_unweighted)
        fields = (prepared.spread, prepared.keep, prepared.restart, prepared.pushed_back, prepared.vanished)
        there = (None if part is None else runtime.to_device(np.ascontiguousarray(part)) for part in fields)
        operator = DeviceOperator(*there)
    if edge_factors is not None:
        way = getattr(scheme, "direction", "follow")
        edges = crossed_edges(graphs, way) if prepared is None else edges_of_operator(graphs, prepared, way)
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


def device_graphs(graph_ptr: Any, adjacency: Any, runtime: Runtime, is_unweighted: bool) -> DeviceGraphs:
    """Return graphs copied to the device."""
    weights = None if is_unweighted else runtime.to_device(adjacency.data)
    indptr, indices = (runtime.to_device(_narrow(array)) for array in (adjacency.indptr, adjacency.indices))
    return DeviceGraphs(runtime, np.asarray(graph_ptr, dtype=np.int64), indptr, indices, weights)


def _narrow(array: Any) -> Any:
    """Return an array as int32, as the kernels require; a batch has fewer than 2^31 entries (``batches``)."""
    return np.ascontiguousarray(array, dtype=np.int32)


def refinement_streams(
    graphs: Any, node_keys: Any, edge_keys: Any, t_max: int, runtime: Runtime
) -> DeviceStreams:
    """Return Weisfeiler-Lehman codes with their iterations."""
    where = device_graphs(graphs.graph_ptr, graphs.adjacency, runtime, graphs.is_unweighted)
    edges = None if edge_keys is None else runtime.to_device(edge_keys)
    codes = refined_codes(where, runtime.to_device(node_keys), edges, t_max)
    return DeviceStreams(codes, np.arange(t_max + 1), np.ones(t_max + 1), where)
