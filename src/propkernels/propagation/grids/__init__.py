"""Propagation on grids: convolutions instead of sparse products."""
