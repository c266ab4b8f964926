"""Search: an inverted file from bins to graphs, and exact nearest neighbors."""
