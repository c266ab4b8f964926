"""Hashing: from distributions to one integer code per node."""
