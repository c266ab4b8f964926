"""Decisions: machines that learn from kernels, and the rules that they become."""
