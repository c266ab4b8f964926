"""Ctrl-C: print one line immediately, and end the process within a second."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

GRACE = 0.7  # seconds for the command to exit by itself
INTERRUPTED = 130
LINE = "propkernels: interrupted, stopping\n"


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Respond to Ctrl-C immediately, even while compiled code is running.

    Python raises KeyboardInterrupt only when the main thread returns to Python code, which takes seconds
    during a large SVM. Here the signal wakes another thread: it prints one line, waits briefly for the main
    thread to exit, then ends the process. Files are written atomically, so no partial file remains; temporary
    files are removed. This changes signal handling, so it is only for the process of the command line.
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
        writer.close()  # ends the thread, after it has printed the line for a pending signal
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
