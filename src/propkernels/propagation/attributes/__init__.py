"""Propagation of node attributes: fixed, propagated, or as mixtures of Gaussians."""
