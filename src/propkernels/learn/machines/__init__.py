"""Machines that learn from kernel matrices or features: SVMs, linear models, Gaussian processes."""
