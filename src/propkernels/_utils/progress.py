"""Progress bars on terminals and in notebooks, for work that takes longer than two seconds.

tqdm works in notebooks with and without ipywidgets (rich shows nothing without them), can appear with a
delay, and can be updated from any thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

from propkernels._utils.locks import ForkSafeLock

# A function of (done, total); None and True: a bar; False: nothing
Progress = Callable[[int, int], None] | bool | None

PATIENCE = 2.0  # seconds before a bar appears
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
_OPEN_END = "{desc} [{elapsed}{postfix}]"


class PlainLines:
    """Progress as lines of text on standard error, one every ten seconds, where no bar is visible."""

    EVERY = 10.0  # seconds
    enabled = False  # commands enable it; a library stays silent in scripts

    def __init__(self, text: str) -> None:
        self.text, self.begun = text, monotonic()
        self.printed = self.begun

    def tell(self, done: int, total: int | None) -> None:
        """Print a line if the last one is ten seconds old."""
        now = monotonic()
        if now - self.printed < self.EVERY or sys.stderr is None:
            return
        self.printed = now
        steps = "" if total is None else f"{done:,} of {total:,}, "
        print(f"{self.text}: {steps}{now - self.begun:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def plain_lines() -> Iterator[None]:
    """Enable lines of progress inside the block."""
    before, PlainLines.enabled = PlainLines.enabled, True
    try:
        yield
    finally:
        PlainLines.enabled = before


def is_watched() -> bool:
    """Whether a bar is visible: standard error is a terminal, or this is a notebook."""
    return _is_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _is_notebook() -> bool:
    """Whether this process is a notebook kernel; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


@contextmanager
def reported(progress: Progress, text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Report the progress of work, and return a function that counts completed steps from any thread.

    Parameters
    ----------
    progress : callable, bool or None
        A function is called as ``progress(done, total)``. None and True: a :class:`ProgressBar`. False:
        nothing is reported.
    text : str
        Description of the work.
    total : int
        Number of steps.

    Examples
    --------
    >>> with reported(lambda done, total: print(done, "of", total), "Comparing graphs", 3) as step:
    ...     step(2)
    2 of 3
    """
    if progress is False:
        yield _silent
    elif callable(progress):
        yield _Counted(progress, total).step
    else:
        with ProgressBar(text, total) as bar:
            yield bar.step


def _silent(n: int = 1) -> None:
    """Report nothing."""


class _Counted:
    """Completed steps, reported to a function."""

    def __init__(self, tell: Callable[[int, int], None], total: int) -> None:
        self.tell, self.total, self.done = tell, total, 0
        self._lock = ForkSafeLock()

    def step(self, n: int = 1) -> None:
        """Count ``n`` more steps."""
        with self._lock:
            self.done += n
            self.tell(self.done, self.total)


class ProgressBar:
    """Progress bar on standard error or in a notebook, shown after two seconds of work.

    Where it would not be visible, commands print a line every ten seconds, and a library prints nothing. It
    can be updated from any thread.

    Parameters
    ----------
    text : str
        Description of the work.
    total : int, optional
        Number of steps; None shows only the elapsed time.
    done : int, default=0
        Number of steps completed before.
    unit : {"", "B"}, default=""
        "B": steps are bytes, shown in kB and MB.

    Examples
    --------
    >>> with ProgressBar("Comparing graphs", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.step()
    """

    def __init__(self, text: str, total: int | None = None, done: int = 0, *, unit: str = "") -> None:
        self.text, self.total, self.done, self.unit = text, total, done, unit
        self._lock = ForkSafeLock()
        self._bar: Any = self._new_bar() if is_watched() else None
        self._lines = PlainLines(text) if self._bar is None and PlainLines.enabled else None

    def _new_bar(self) -> Any:
        from tqdm.auto import tqdm

        # Every step may draw (miniters=0), so tqdm's monitor thread, which wakes sleepy bars, is not needed.
        quiet = type("Bar", (tqdm,), {"monitor_interval": 0})
        return quiet(
            desc=self.text,
            total=self.total,
            initial=self.done,
            unit=self.unit,
            unit_scale=self.unit == "B",
            bar_format=_OPEN_END if self.total is None else _BAR,
            delay=PATIENCE,
            miniters=0,
            leave=False,
            file=sys.stderr,
        )

    def step(self, n: int = 1) -> None:
        """Count ``n`` more steps."""
        with self._lock:
            self.done += n
            if self._bar is not None:
                self._bar.update(n)
            elif self._lines is not None:
                self._lines.tell(self.done, self.total)

    def on_progress(self, done: int, total: int) -> None:
        """Set the numbers of completed and total steps; a callback for functions that report progress."""
        with self._lock:
            self.done, self.total = done, total
            if self._bar is not None:
                self._bar.total, self._bar.bar_format = total, _BAR
                self._bar.update(done - self._bar.n)
            elif self._lines is not None:
                self._lines.tell(done, total)

    def describe(self, text: str = "", note: str = "") -> None:
        """Change the text before the bar, and the note after it."""
        if self._bar is not None:
            self._bar.set_description_str(text or self.text, refresh=False)
            self._bar.set_postfix_str(note, refresh=False)
            self.refresh()

    def refresh(self) -> None:
        """Update the elapsed time."""
        self.step(0)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def spinner(text: str, interval: float = 0.5) -> Iterator[None]:
    """Show the elapsed time of work without steps, after two seconds.

    Parameters
    ----------
    text : str
        Description of the work.
    interval : float, default=0.5
        Seconds between updates.
    """
    with ProgressBar(text) as bar:
        if not is_watched() and not PlainLines.enabled:
            yield
            return
        done = Event()
        thread = Thread(target=_refresh, args=(bar, done, interval), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _refresh(bar: ProgressBar, done: Event, interval: float) -> None:
    while not done.wait(interval):
        bar.refresh()
