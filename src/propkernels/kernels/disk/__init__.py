"""Kernel matrices on disk, tile by tile."""
