"""What commands have in common: output files, tables, numbers, progress, errors, and --version."""

from __future__ import annotations

import csv
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from propkernels._utils.progress import ProgressBar
from propkernels._utils.progress import spinner as spinner
from propkernels._utils.text_tables import format_table
from propkernels._version import __version__

Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]


def check_output(output: Path, force: bool, example: str = "K.npz") -> None:
    """Refuse, before anything is computed, a file that cannot be written."""
    if output == Path("-"):
        raise ValueError(f"this cannot be written to standard output: name a file, such as {example}")
    if output.is_dir():
        raise ValueError(f"{output} is a folder: name a file in it, such as {output / example}")
    if not output.parent.is_dir():
        raise ValueError(f"{output.name} cannot be written: {output.parent} is not a folder")
    if output.exists() and not force:
        raise ValueError(f"{output} exists and was left as it is; --force overwrites it")


def size_of(path: Path) -> str:
    """Size of a file in words."""
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"


EXPECTED = (ValueError, OSError, ImportError, MemoryError, RuntimeError)  # with texts written for people
TRACEBACK = "PROPKERNELS_TRACEBACK"
USAGE_ERROR: Any = typer.BadParameter.__mro__[2]  # the base of all errors in options
ENDINGS: tuple[type[BaseException], ...] = (BrokenPipeError, typer.Exit, typer.Abort, USAGE_ERROR)


class OneSentenceErrors(TyperGroup):
    """Commands whose errors end with one sentence instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error becomes one sentence."""
        with one_sentence_errors():
            return super().invoke(ctx)


@contextmanager
def one_sentence_errors() -> Iterator[None]:
    """End the process with one sentence on stderr if an error is raised inside.

    With the environment variable PROPKERNELS_TRACEBACK, the traceback is shown instead.
    """
    try:
        yield
    except ENDINGS:
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
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
    >>> sentence(KeyError("bins"))
    "KeyError: 'bins' (a mistake in propkernels; PROPKERNELS_TRACEBACK=1 shows where)"
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    text = " ".join(str(error).split())
    if isinstance(error, EXPECTED):
        return text or type(error).__name__
    name = type(error).__name__ + (f": {text}" if text else "")
    return f"{name} (a mistake in propkernels; {TRACEBACK}=1 shows where)"


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings that are given inside as lines on standard error, each once, after it has ended."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in said):
        typer.echo(f"propkernels: {text}", err=True)


WIDTH_OF_FILES = 200


def stdout() -> Any:
    """Return a console for results: as wide as the terminal, and wide enough for any table in a file."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console


def results_stream() -> Any:
    """Return standard output for results; refuse, in one sentence, where it is closed."""
    if sys.stdout is None:
        raise OSError("standard output is closed: results have nowhere to go")
    return sys.stdout


def print_text(text: str = "") -> None:
    """Print text as it is; long lines are left to the terminal."""
    stdout().print(text, markup=False, soft_wrap=True)


def new_table(words: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return an empty table: columns of words, to the left, then of numbers, to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in words:
        table.add_column(name, justify="left")
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def cell(value: Any) -> str:
    r"""Text of a cell, as it is: brackets are not markup.

    Examples
    --------
    >>> cell("[bold]"), cell(None)
    ('\\[bold]', '-')
    """
    from rich.markup import escape

    return "-" if value is None else escape(str(value))


def print_records(
    records: Sequence[Mapping[str, Any]], output_format: str, formats: Mapping[str, str] | None = None
) -> None:
    """Print one line per record: aligned text for people, CSV or JSON for programs.

    Parameters
    ----------
    records : sequence of dict
        With the same keys, the names of the columns.
    output_format : {"table", "csv", "json"}
    formats : dict of str, optional
        How tables show the numbers of a column, such as ``{"share": ".2f"}``; programs get all digits.
    """
    stream = results_stream()
    if output_format == "json":
        typer.echo(json.dumps(records, indent=1, default=str))
    elif output_format == "csv":
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(list(records[0]) if records else [])
        writer.writerows([list(record.values()) for record in records])
    else:
        names = list(records[0]) if records else []
        rows = [[_in_table(value, (formats or {}).get(name)) for name, value in r.items()] for r in records]
        words = [name for name in names if any(isinstance(record[name], str) for record in records)]
        typer.echo(format_table(names, rows, left=words) if records else "")


def _in_table(value: Any, number_format: str | None) -> str:
    if value is None:
        return "-"
    return str(value) if number_format is None else format(value, number_format)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far something is, after two seconds.

    Yields
    ------
    callable
        To be called with the number of parts done, and of all parts.
    """
    with ProgressBar(title) as bar:
        yield bar.on_progress


def seconds(value: float) -> str:
    """Time in a form that is easy to read.

    Examples
    --------
    >>> seconds(0.0123), seconds(2.345), seconds(75)
    ('12 ms', '2.3 s', '1 min 15 s')
    """
    if value < 0.9995:
        return f"{1000 * value:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    return "{} min {} s".format(*divmod(round(value), 60))


def percent(fraction: float) -> str:
    """Share with one decimal.

    Examples
    --------
    >>> percent(0.8567)
    '85.7 %'
    """
    return f"{100 * fraction:.1f} %"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"propkernels {__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that come before a command."""
