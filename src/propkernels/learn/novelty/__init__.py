"""Novelty: which graphs, and which of their nodes, are unlike the training graphs."""
