"""Graphs on the device: their arrays, and packets of whole graphs, one per block of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import offsets
from propkernels._utils.locks import cached_property
from propkernels.gpu.runtime import Runtime

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

        A graph larger than the capacity is a separate packet.
        """
        packets = np.empty(self.n_graphs + 2, dtype=np.int32)
        n_packets = _core.cut_packets(self.offsets, self.capacity, packets)
        return self.runtime.to_device(packets[: n_packets + 1])

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
