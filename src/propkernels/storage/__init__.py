"""Save and load fitted models: one file of JSON and arrays, without code."""

from propkernels.storage.model_files import ModelFileError, load_model, save_model

__all__ = ["ModelFileError", "load_model", "save_model"]
