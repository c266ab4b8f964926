"""Counting: from codes to sparse counts of bins."""
