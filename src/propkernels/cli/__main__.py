"""Entry point of the command ``propkernels``: a line after Ctrl-C."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress

INTERRUPTED = 130


def main() -> None:
    """Run the command line; the exit status after Ctrl-C is 130."""
    try:
        from propkernels.cli.app import app

        _escape_surrogates()
        try:
            app(prog_name="propkernels")
        finally:
            gc.freeze()  # garbage collection at exit takes 0.3 s
    except (KeyboardInterrupt, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code != INTERRUPTED:
            raise
        # sys.exit could still end with the signal: Python remembers an interrupt inside exec().
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            print("propkernels: interrupted, stopping", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)


def _escape_surrogates() -> None:
    r"""Make standard output escape characters that its encoding lacks, such as \udce9."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
