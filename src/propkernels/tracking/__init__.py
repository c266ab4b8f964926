"""Tracking: changes of the counts of a graph by an edit, computed from the nodes near the edit alone."""
