"""A progress bar for work that takes longer than a moment."""

from __future__ import annotations

import sys
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0  # seconds before a bar appears


class ProgressBar:
    """Counts steps, and shows a bar on a terminal's standard error once the work has taken 2 seconds.

    Parameters
    ----------
    text : str
        What is being done.
    total : int
        Number of steps.
    done : int
        Steps that were done before.
    """

    def __init__(self, text: str, total: int, done: int = 0) -> None:
        self.text, self.total, self.done = text, total, done
        self.start, self.bar, self.task, self.lock = monotonic(), None, None, Lock()

    bar: Any
    task: Any

    def step(self) -> None:
        """One step more is done; may be called from any thread."""
        with self.lock:
            self.done += 1
            if self.bar is None and monotonic() - self.start > PATIENCE and sys.stderr.isatty():
                self._show()
            if self.bar is not None:
                self.bar.update(self.task, completed=self.done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self.bar = Progress(console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task(self.text, total=self.total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
