"""Tracking: what an edit of a graph changes in its counts, from what is near the edit alone."""
