"""Importing scikit-learn without what it does not use.

scikit-learn's base imports ``scipy.stats`` for one function that is hardly ever called, and pandas, if it is
installed, for none; that is most of its start-up time. Nothing is lost if these imports find placeholders:
naming or importing the modules later loads them. Only the command does this, in its own process.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

DEFERRED = ("scipy.stats", "pandas")


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

    Afterwards the placeholders are gone: importing such a module or naming it loads it, as always. A module
    that is loaded already, or not installed, gets no placeholder; where scikit-learn is loaded, none does.
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
    """Whether the package is; its parts are not looked for, which would load it."""
    return PathFinder.find_spec(name.partition(".")[0]) is not None


def _hold(name: str) -> Placeholder:
    placeholder = Placeholder(name)
    placeholder.__spec__ = ModuleSpec(name, None)
    sys.modules[name] = placeholder
    return placeholder


def _remove(placeholder: Placeholder) -> None:
    if sys.modules.get(placeholder.__name__) is placeholder:
        del sys.modules[placeholder.__name__]
