"""Graphs on the device: their arrays, and packets of whole graphs, one per block of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propkernels._utils.locks import cached_property
from propkernels.gpu.runtime import Runtime

CAPACITY = 320  # nodes of a packet


@dataclass(frozen=True)
class DeviceGraphs:
    """Adjacency and offsets of many graphs on the device.

    Attributes
    ----------
    runtime : Runtime
    graph_ptr : device array of int64, (n + 1,)
    indptr, indices : device arrays of int32
    weights : device array of float64, or None
        Weight of each stored entry; None: all 1.
    capacity : int
        Largest number of nodes of a packet. Graphs of up to half as many nodes share packets.
    """

    runtime: Runtime
    graph_ptr: Any
    indptr: Any
    indices: Any
    weights: Any = None
    capacity: int = CAPACITY

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.graph_ptr) - 1

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.graph_ptr[-1])

    @cached_property
    def packets(self) -> Any:
        """First graph of each packet, followed by the number of graphs.

        Nodes are cut every W nodes; a packet consists of the graphs that begin between two cuts. With
        W = capacity - (largest small graph) + 1 no packet overflows, and no loop over graphs is needed. Each
        large graph is a separate packet.
        """
        xp, ptr = self.runtime.xp, self.graph_ptr
        if self.n_nodes == 0:
            return xp.asarray([0, self.n_graphs], dtype=xp.int32)
        sizes = xp.diff(ptr)
        is_large = sizes > self.capacity // 2
        largest = int(xp.where(is_large, 0, sizes).max())
        cuts = xp.arange(0, self.n_nodes, self.capacity - max(largest, 1) + 1, dtype=ptr.dtype)
        begins = xp.searchsorted(ptr[:-1], cuts)
        if len(self.large_graphs):
            large = self.large_graphs
            begins = xp.concatenate([begins, large, large + 1])
        ends = xp.asarray([0, self.n_graphs], dtype=begins.dtype)
        return xp.unique(xp.concatenate([begins, ends])).astype(xp.int32)

    @cached_property
    def n_packets(self) -> int:
        """Number of packets."""
        return len(self.packets) - 1

    @cached_property
    def large_graphs(self) -> Any:
        """Numbers of the graphs with more than half the capacity, which share no packet."""
        xp = self.runtime.xp
        return xp.flatnonzero(xp.diff(self.graph_ptr) > self.capacity // 2)

    @cached_property
    def large_nodes(self) -> LargeNodes | None:
        """Nodes of graphs larger than a packet, or None."""
        xp = self.runtime.xp
        begins = self.graph_ptr[self.large_graphs]
        sizes = self.graph_ptr[self.large_graphs + 1] - begins
        sizes_here = self.runtime.to_host(sizes)
        is_beyond = sizes_here > self.capacity
        if not is_beyond.any():
            return None
        keep = xp.asarray(np.flatnonzero(is_beyond))
        graphs, begins, sizes = self.large_graphs[keep], begins[keep], sizes[keep]
        starts = xp.concatenate([xp.zeros(1, dtype=sizes.dtype), xp.cumsum(sizes)])
        total = int(starts[-1])
        row = xp.arange(total, dtype=xp.int64)
        owner = xp.searchsorted(starts, row, side="right") - 1
        nodes = begins[owner] + row - starts[owner]
        place = xp.zeros(self.n_nodes, dtype=xp.int32)
        place[nodes] = row.astype(xp.int32)
        return LargeNodes(graphs, nodes, place, owner.astype(xp.int32))


@dataclass(frozen=True)
class LargeNodes:
    """Nodes of graphs larger than a packet.

    Attributes
    ----------
    graphs : device array
        Numbers of these graphs.
    nodes : device array of int64
        Their nodes.
    place : device array of int32, (N,)
        Position in ``nodes`` of each of these nodes.
    owner : device array of int32
        Position in ``graphs`` of the graph of each of these nodes.
    """

    graphs: Any
    nodes: Any
    place: Any
    owner: Any
