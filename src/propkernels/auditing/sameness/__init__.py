"""Graphs that are the same: up to isomorphism, or to what a kernel sees."""
