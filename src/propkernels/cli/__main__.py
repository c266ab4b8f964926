"""Entry point of the command ``propkernels``: a fast start, and a line after Ctrl-C."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

DEFERRED = ("scipy.stats", "pandas")
INTERRUPTED = 130


def main() -> None:
    """Run the command line; the exit status after Ctrl-C is 130."""
    try:
        from propkernels.cli.app import app

        if _will_compute(sys.argv[1:]):
            with quick_import():
                import propkernels.kernels  # noqa: F401
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


def _will_compute(words: list[str]) -> bool:
    """Whether the command line needs scikit-learn: a command that computes, without --help."""
    is_command = bool(words) and not words[0].startswith("-") and words[0] != "datasets"
    return is_command and not {"-h", "--help"} & set(words)


def _escape_surrogates() -> None:
    r"""Make standard output escape characters that its encoding lacks, such as \udce9."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


# a fast start


class Placeholder(ModuleType):
    """Placeholder for a module that is not loaded yet: attribute access loads the real module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        _remove(self)
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def quick_import() -> Iterator[None]:
    """Install module placeholders and pause garbage collection during an import.

    scikit-learn's base imports ``scipy.stats`` for one rarely called function, and pandas (if installed) for
    none; that is most of its import time. Placeholders are removed afterwards: using or importing such a
    module loads it. Modules that are already loaded, or not installed, get no placeholder; if scikit-learn is
    already loaded, nothing is done. Only the command line uses this, in its own process.
    """
    if "sklearn" in sys.modules:
        yield
        return
    placeholders = [_hold(name) for name in DEFERRED if name not in sys.modules and _is_installed(name)]
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        for placeholder in placeholders:
            _remove(placeholder)
        if collects:
            gc.enable()


def _is_installed(name: str) -> bool:
    """Whether the package of a module is installed; finding the submodule would import the package."""
    return PathFinder.find_spec(name.partition(".")[0]) is not None


def _hold(name: str) -> Placeholder:
    placeholder = Placeholder(name)
    placeholder.__spec__ = ModuleSpec(name, None)
    sys.modules[name] = placeholder
    return placeholder


def _remove(placeholder: Placeholder) -> None:
    if sys.modules.get(placeholder.__name__) is placeholder:
        del sys.modules[placeholder.__name__]


if __name__ == "__main__":
    main()
