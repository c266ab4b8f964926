"""Ctrl-C: one line at once, and the end of the process within a second."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

GRACE = 0.7  # seconds for the command to end by itself
INTERRUPTED = 130
LINE = "propkernels: interrupted, stopping\n"


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Answer Ctrl-C at once, also while compiled code keeps the main thread.

    Python raises KeyboardInterrupt only once the main thread is back in Python, which takes seconds in the
    middle of a large SVM. Here another thread is woken by the signal: it prints one line, gives the main
    thread a moment to end, and then ends the process. Files are written atomically, so nothing is half
    written; temporary files are removed. This changes how the process treats signals, so it is only for the
    command's own process.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    done = Event()
    thread = Thread(target=_watch, args=(reader, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(before)
        writer.close()  # ends the thread, after it has printed the line for a signal that just came
        thread.join(GRACE)


def _watch(reader: socket.socket, done: Event) -> None:
    with reader:
        while numbers := reader.recv(64):
            if signal.SIGINT in numbers:
                _stop(done)
                return


def _stop(done: Event) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(("\r" if sys.stderr.isatty() else "") + LINE)
        sys.stderr.flush()
    if not done.wait(GRACE):
        from propkernels._utils.safe_files import discard_unfinished

        discard_unfinished()
        os._exit(INTERRUPTED)
