"""Saving and loading: fitted models in one file that holds JSON and arrays, and never code."""

from propkernels.storage.errors import ModelFileError
from propkernels.storage.files import load, save

__all__ = ["ModelFileError", "load", "save"]
