"""Measurements beyond the paper's tables; each module tells its command."""
