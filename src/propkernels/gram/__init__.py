"""Kernel matrices from counts."""
