"""The error of files that cannot be read."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file is damaged, was written by something else, or by a newer version."""
