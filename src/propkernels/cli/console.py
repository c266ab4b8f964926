"""Output of commands: files, tables, numbers, progress, errors, and --version."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from propkernels._utils.progress import spinner as spinner
from propkernels._utils.safe_files import atomic_write
from propkernels._version import __version__


def option(names: str, text: str, value: str | None = None, **settings: Any) -> Any:
    """Return an option by its names, such as "--output -o", its help, and the word for its value."""
    return typer.Option(*names.split(), help=text, metavar=value, **settings)


Force = Annotated[bool, option("--force", "Overwrite the file if it exists.")]


def check_output(
    output: Path, force: bool, example: str, suffixes: Sequence[str] = (), other: Path | None = None
) -> None:
    """Raise ValueError, before any computation, if a file is not writable, exists, or is the other one."""
    if output == Path("-"):
        raise ValueError(f"output to standard output is not supported: name a file, such as {example}")
    if output.is_dir():
        raise ValueError(f"{output} is a folder: name a file in it, such as {output / example}")
    if not output.parent.is_dir():
        raise ValueError(f"{output.name} cannot be written: {output.parent} is not a folder")
    if output.exists() and not force:
        raise ValueError(f"{output} exists: use --force to overwrite it")
    if suffixes and output.suffix.lower() not in suffixes:
        raise ValueError(f"{output} has an unsupported suffix: use {' or '.join(suffixes)}")
    if output == other:
        raise ValueError(f"{output} is named twice: name two files")


def write_lines(stream: Any, header: Sequence[str] | None, rows: Iterable[Sequence[Any]]) -> None:
    """Write a header, if there is one, and rows as CSV."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(rows if header is None else [header, *rows])


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file, complete or not at all."""
    with atomic_write(path, text=True) as stream:
        write_lines(stream, header, rows)


def write_records(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write one line per record, whose keys are the column names."""
    write_csv(path, list(records[0]) if records else [], [list(record.values()) for record in records])


def size_of(path: Path) -> str:
    """Return the size of a file as text."""
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"


EXPECTED = (ValueError, OSError, ImportError, MemoryError, RuntimeError)  # with messages for users
TRACEBACK = "PROPKERNELS_TRACEBACK"
USAGE_ERROR: Any = typer.BadParameter.__mro__[2]  # base class of all errors in options
ENDINGS: tuple[type[BaseException], ...] = (BrokenPipeError, typer.Exit, typer.Abort, USAGE_ERROR)


IN_COMMANDS = (  # advice of messages for Python, and its counterpart for the command line
    (re.compile(r"list_datasets\(\)"), "'propkernels datasets'"),
    (
        re.compile(r"allow_unverified=True downloads (\S+) and trusts what comes"),
        r"download \1 and give its path",
    ),
    (re.compile(r"allow_unverified=True trusts what comes"), "download it yourself and give its path"),
    (re.compile(r" \(\w+=[^()]*\)"), ""),  # the same option in Python
    (re.compile(r" \((\w+)\) does not apply"), " does not apply"),
)
SHORTEST = 12  # characters of words that are cut
CONTROLS = {i: f"\\x{i:02x}" for i in (*range(32), *range(127, 160))}  # letters that would steer a terminal


class OneSentenceErrors(TyperGroup):
    """Group of commands that print errors as one sentence on stderr, and exit with status 1.

    With the environment variable PROPKERNELS_TRACEBACK, the traceback is shown instead.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ENDINGS:
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            print_error(f"propkernels: {sentence(error)}")
            sys.exit(1)


class PlainUsage(TyperCommand):
    """Command whose usage names arguments without braces, which look like a choice."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.strip("{}").replace("...}...", "...").replace("}", "") for piece in pieces]


def sentence(error: BaseException) -> str:
    r"""Return the message of an error as one line.

    Examples
    --------
    >>> sentence(ValueError("t_max must be\n at least 0"))
    't_max must be at least 0'
    >>> sentence(FileNotFoundError(2, "No such file or directory", "K.npz"))
    'K.npz: no such file or directory'
    >>> sentence(KeyError("bins"))
    "KeyError: 'bins' (a bug in propkernels; PROPKERNELS_TRACEBACK=1 shows where)"
    """
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror[0].lower()}{error.strerror[1:]}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    text = in_commands(str(error))
    if isinstance(error, EXPECTED):
        return text or type(error).__name__
    name = type(error).__name__ + (f": {text}" if text else "")
    return f"{name} (a bug in propkernels; {TRACEBACK}=1 shows where)"


def in_commands(text: str) -> str:
    """Return a message of Python, in one line, with the advice that is right for commands."""
    text = " ".join(text.split())
    for python, command in IN_COMMANDS:
        text = python.sub(command, text)
    return text


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings raised inside the block on standard error, each once, after the block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_error(f"propkernels: {in_commands(text)}")


def stdout() -> Any:
    """Return a rich console for results, which knows whether there is a terminal and how wide it is."""
    from rich.console import Console

    return Console(highlight=False)


def results_stream() -> Any:
    """Return standard output; raise OSError if it is closed."""
    if sys.stdout is None:
        raise OSError("standard output is closed, so results cannot be printed")
    return sys.stdout


def print_text(text: str = "") -> None:
    """Print text; lines longer than the terminal, without one than 80 columns, break between words."""
    width = shutil.get_terminal_size().columns
    for line in (one.translate(CONTROLS) for one in text.split("\n")):
        indent = "  " if line.startswith("- ") else ""
        typer.echo(
            line
            if len(line) <= width
            else fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        )


def print_error(text: str) -> None:
    """Print a sentence on standard error: one line, which on a terminal breaks between words."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        console.print(text.translate(CONTROLS), markup=False)
    else:
        typer.echo(text.translate(CONTROLS), err=True)


def print_records(
    records: Sequence[Mapping[str, Any]], output_format: str, formats: Mapping[str, str] | None = None
) -> None:
    """Print one line per record, as an aligned table, CSV or JSON.

    Parameters
    ----------
    records : sequence of dict
        Records with equal keys, the column names.
    output_format : {"table", "csv", "json"}
    formats : dict of str, optional
        Number formats of columns in tables, such as ``{"share": ".2f"}``; CSV and JSON have all digits.
    """
    stream, names = results_stream(), list(records[0]) if records else []
    if output_format == "json":
        typer.echo(json.dumps(records, indent=1, default=str))
    elif output_format == "csv":
        write_lines(stream, names, [list(record.values()) for record in records])
    else:
        shown = formats or {}
        rows = [
            ["-" if value is None else format(value, shown.get(name, "")) for name, value in record.items()]
            for record in records
        ]
        words = [name for name in names if any(isinstance(record[name], str) for record in records)]
        print_table(names, rows, words)


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str]) -> None:
    """Print an aligned table, columns of words to the left; a narrow terminal cuts the longest words."""
    from propkernels._utils.checks import format_table  # imports numpy, which --help does without

    console = stdout()
    rows = [[text.translate(CONTROLS) for text in row] for row in rows]
    widths = [max(len(text) for text in (name, *column)) for name, *column in zip(names, *rows, strict=True)]
    excess = sum(widths) + 2 * (len(widths) - 1) - console.width if console.is_terminal else 0
    while excess > 0 and words:
        place = max((names.index(name) for name in words), key=lambda i: widths[i] - len(names[i]))
        room = widths[place] - max(len(names[place]), SHORTEST)
        if room <= 0:
            break
        widths[place] -= min(excess, room)
        excess -= min(excess, room)
    cut = [
        [t if len(t) <= wide else t[: wide - 3] + "..." for t, wide in zip(row, widths, strict=True)]
        for row in rows
    ]
    typer.echo(format_table(names, cut, left=words) if names else "")


def seconds(value: float) -> str:
    """Return a duration as text.

    Examples
    --------
    >>> [seconds(value) for value in (0.0004, 0.25, 0.9999, 59.97, 3725)]
    ['0 ms', '250 ms', '1.0 s', '1 min 0 s', '62 min 5 s']
    """
    if value < 0.9995:
        return f"{1000 * value:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    return "{} min {} s".format(*divmod(round(value), 60))


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal.

    Examples
    --------
    >>> percent(0.8567)
    '85.7 %'
    """
    return f"{100 * fraction:.1f} %"


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"propkernels {__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, option("--version", "Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Handle options before the command."""
