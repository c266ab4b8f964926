"""Saving and loading: fitted models in one file that holds JSON and arrays, and never code."""

from propkernels.storage.model_files import ModelFileError, load_model, save_model

__all__ = ["ModelFileError", "load_model", "save_model"]
