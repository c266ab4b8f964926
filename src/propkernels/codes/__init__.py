"""Codes: from distributions to one integer per node, or pair of nodes."""
