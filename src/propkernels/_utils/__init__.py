"""Helpers for all packages: arrays, checks, threads, safe files, randomness, progress."""
