"""Atoms and bonds of molecules as flat arrays, asked of RDKit as few times as can be."""
