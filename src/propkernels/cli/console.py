"""Tables on stdout, progress on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

WIDTH_OF_FILES = 200


def stdout() -> Any:
    """Return a console for results: as wide as the terminal, and wide enough for any table in a file."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console


def say(text: str = "") -> None:
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
    r"""Text of a cell, as it is: brackets are no markup.

    Examples
    --------
    >>> cell("[bold]"), cell(None)
    ('\\[bold]', '-')
    """
    from rich.markup import escape

    return "-" if value is None else escape(str(value))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how far something is, and wipe it away; nothing where that is no terminal.

    Yields
    ------
    callable
        To be called with the number of parts done, and of all parts.
    """
    from rich.progress import BarColumn, MofNCompleteColumn

    with _progress(BarColumn(), MofNCompleteColumn()) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def spinner(title: str) -> Iterator[None]:
    """Show on stderr that something runs, and wipe it away; nothing where that is no terminal."""
    with _progress() as progress:
        progress.add_task(title, total=None)
        yield


def _progress(*columns: Any) -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *columns, TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


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
