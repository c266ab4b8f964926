"""Shortest paths, for the kernels that compare them."""
