"""Experiments beyond the paper's tables: default models, nodes, novelty, pictures."""
