"""Choosing a kernel, t_max, normalization and C by cross-validation on the training graphs."""
