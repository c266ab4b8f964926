"""Experiments of the paper, as scripts: ``python -m experiments.<name>``."""
