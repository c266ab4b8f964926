"""Errors as a user wants them: one sentence on stderr, and exit code 1."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

EXPECTED = (ValueError, OSError, ImportError, MemoryError)


class OneSentenceErrors(TyperGroup):
    """Group of commands whose foreseeable errors end without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; say in one sentence what went wrong."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except EXPECTED as error:
            typer.echo(f"propkernels: {sentence(error)}", err=True)
            sys.exit(1)


def sentence(error: BaseException) -> str:
    r"""Return what an error says, on one line.

    Examples
    --------
    >>> sentence(ValueError("t_max must be\n at least 0"))
    't_max must be at least 0'
    >>> sentence(FileNotFoundError(2, "No such file or directory", "K.npz"))
    'K.npz: no such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    return " ".join(str(error).split()) or type(error).__name__
