"""Molecules beside fingerprints: nine sets of MoleculeNet, the same folds, the same heads."""
