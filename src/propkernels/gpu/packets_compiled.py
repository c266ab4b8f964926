"""Compiled loop that cuts graphs into packets."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled


@compiled
def cut_packets(graph_ptr: Any, capacity: int, packets: Any) -> int:
    """Write the first graph of each packet, followed by the number of graphs; return the number of packets.

    A packet takes graphs as long as their nodes do not exceed its capacity; a larger graph is alone.
    ``packets`` has room for one number per graph, and one more.
    """
    n, n_packets, first = len(graph_ptr) - 1, 1, 0
    packets[0] = 0
    for graph in range(1, n):
        if graph_ptr[graph + 1] - graph_ptr[first] > capacity:
            packets[n_packets] = first = graph
            n_packets += 1
    packets[n_packets] = n
    return n_packets
