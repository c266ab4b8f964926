"""Counts: from codes to counts of bins, features and kernel matrices."""
