"""Measured pages about molecules."""
