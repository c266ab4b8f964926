"""Faster import of scikit-learn, with placeholders for unused modules.

scikit-learn's base imports ``scipy.stats`` for one rarely called function, and pandas (if installed) for
none; that is most of its import time. Placeholders load the real modules on first use. Only the command line
uses them, in its own process.
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

    Placeholders are removed afterwards: using or importing such a module loads it. Modules that are already
    loaded, or not installed, get no placeholder; if scikit-learn is already loaded, nothing is done.
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
