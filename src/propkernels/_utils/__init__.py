"""Helpers of all stations: checks, threads, random numbers, files, progress."""
