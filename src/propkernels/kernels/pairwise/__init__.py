"""Kernels that compare pairs of graphs: tiles, time limits and checkpoints."""
