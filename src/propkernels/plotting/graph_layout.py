"""Where nodes are drawn: the same in all drawings, with and without matplotlib."""

from propkernels.graphs.layout import node_positions

__all__ = ["node_positions"]
