"""What can be learned from the graphs: baselines, kernels, graphs that are always wrong."""
