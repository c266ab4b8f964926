"""Subgraph matching: by cliques of product graphs, or by counting subgraphs."""
