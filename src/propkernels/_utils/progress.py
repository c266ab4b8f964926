"""What long calls do: progress bars on terminals and in notebooks after two seconds, and lines of a logger.

``logging.getLogger("propkernels")`` has a line (INFO) at the end of work with a bar, with its seconds, and
lines about what was chosen and written. The library adds no handler that prints.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Self

LOG = logging.getLogger("propkernels")
LOG.addHandler(logging.NullHandler())
Progress = bool | None  # None: a bar where it is visible; True: always; False: never
PATIENCE = 2.0  # seconds before a bar appears
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
_OPEN_END = "{desc} [{elapsed}]"
_SHOWN: list[Any] = []  # bars of work inside work: the last one has the line


def is_watched() -> bool:
    """Whether a bar is visible: standard error is a terminal, or this is a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    is_notebook = shell is not None and "IPKernelApp" in getattr(shell, "config", {})
    return is_notebook or (sys.stderr is not None and sys.stderr.isatty())


class ProgressBar:
    """Progress bar of tqdm on standard error or in a notebook, shown after two seconds of work.

    Parameters
    ----------
    text : str
        Description of the work.
    total : int, optional
        Number of steps; None shows only the elapsed time.
    done : int, default=0
        Number of steps completed before.
    progress : bool or None, default=None
        None shows the bar where it is visible (a terminal or a notebook); True always, False never.
    unit : {"", "B"}, default=""
        "B": steps are bytes, shown in kB and MB.

    Examples
    --------
    >>> with ProgressBar("Comparing graphs", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.step()
    """

    def __init__(
        self, text: str, total: int | None = None, done: int = 0, *, progress: Progress = None, unit: str = ""
    ) -> None:
        if not (isinstance(progress, Hashable) and progress in (None, False, True)):
            from propkernels._utils.checks import shown  # needs numpy, which --help does not wait for

            raise ValueError(f"progress must be None, True or False, got {shown(progress)}")
        self._text, self._begin, self._n = text, time.perf_counter(), done
        self._bar: Any = None
        if is_watched() if progress is None else progress:
            from tqdm.auto import tqdm

            # Every step may draw (miniters=0), so tqdm's thread that wakes sleepy bars is not needed.
            self._bar = type("Bar", (tqdm,), {"monitor_interval": 0})(
                desc=text,
                total=total,
                initial=done,
                unit=unit,
                unit_scale=unit == "B",
                bar_format=_OPEN_END if total is None else _BAR,
                delay=PATIENCE,
                miniters=0,
                leave=False,
                file=sys.stderr,
            )
            if _SHOWN:
                _SHOWN[-1].clear()
            _SHOWN.append(self._bar)

    def step(self, n: int = 1) -> None:
        """Count ``n`` more steps; 0 updates the elapsed time."""
        self._n += n
        if self._bar is not None and _SHOWN and self._bar is _SHOWN[-1]:
            self._bar.update(n)
        elif self._bar is not None:
            self._bar.n += n

    def describe(self, text: str) -> None:
        """Change the text before the bar."""
        if self._bar is not None:
            self._bar.set_description_str(text, refresh=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        end = "" if kind is None else f", ended by {kind.__name__}"
        LOG.info("%s: %d steps, %.1f s%s", self._text, self._n, time.perf_counter() - self._begin, end)
        if self._bar is not None:
            self._bar.close()
            _SHOWN[:] = [one for one in _SHOWN if one is not self._bar]  # bars are equal at equal positions


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
    if not is_watched():
        yield
        return
    done = Event()

    def refresh() -> None:
        while not done.wait(interval):
            bar.step(0)

    with ProgressBar(text) as bar:
        thread = Thread(target=refresh, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
