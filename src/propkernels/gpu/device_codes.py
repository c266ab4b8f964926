"""Codes on the device: propagation and hashing of projected values, and Weisfeiler-Lehman refinement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.gpu.runtime import BLOCKS, CHUNK, LISTED, DeviceGraphs


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
            *(
                np.int32(n_streams),
                np.int32(n_hashes),
                np.int32(graphs.capacity),
                np.int64(graphs.n_nodes),
                codes,
            ),
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
