"""Entry point of the command ``propkernels``."""

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from propkernels.cli.interrupt import INTERRUPTED, LINE, prompt_interrupts


def main() -> None:
    """Run the command line; the exit status after Ctrl-C is 130."""
    with _quiet_imports():
        from propkernels.cli.app import app

        _import_libraries(sys.argv[1:])
    _escape_surrogates()
    try:
        with prompt_interrupts():
            _run(app)
    except (KeyboardInterrupt, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code != INTERRUPTED:
            raise
        # sys.exit could still end with the signal: Python remembers an interrupt inside exec().
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(INTERRUPTED)


@contextmanager
def _quiet_imports() -> Iterator[None]:
    """Exit on Ctrl-C without a traceback during imports."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored in the background, or handled by a host program
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(*_: Any) -> None:
    with suppress(OSError):
        os.write(2, LINE.encode())
    os._exit(INTERRUPTED)


def _escape_surrogates() -> None:
    r"""Make standard output escape characters that its encoding lacks, such as \udce9."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _import_libraries(words: list[str]) -> None:
    """Import scikit-learn, with placeholders for unused modules, if the command needs it."""
    if _will_compute(words):
        from propkernels.cli._quick_import import quick_import

        with quick_import():
            import propkernels.kernels  # noqa: F401


def _run(app: Any) -> None:
    """Run the command; skip garbage collection at exit, which takes 0.3 s."""
    try:
        app(prog_name="propkernels")
    finally:
        gc.freeze()


def _will_compute(words: list[str]) -> bool:
    """Whether the command line needs scikit-learn: a command that computes, without --help."""
    is_command = bool(words) and not words[0].startswith("-") and words[0] != "datasets"
    return is_command and not {"-h", "--help"} & set(words)


if __name__ == "__main__":
    main()
