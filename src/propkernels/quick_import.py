"""Importing scikit-learn without what it does not use.

scikit-learn's base imports ``scipy.stats`` for one function that hardly anybody calls; that is half of its
start-up time. SciPy loads its parts itself when they are first named, so nothing is lost if that import
finds a placeholder.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

DEFERRED = "scipy.stats"


class Placeholder(ModuleType):
    """Stands for a module that is not loaded yet; whoever asks it for anything gets it from the module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        _remove(self)
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def quick_import() -> Iterator[None]:
    """Hold a placeholder for ``scipy.stats``, and the garbage collector still, while something is imported.

    Afterwards the placeholder is gone: importing ``scipy.stats`` or naming it loads it, as always. Where
    scikit-learn or ``scipy.stats`` is there already, nothing is held.
    """
    if DEFERRED in sys.modules or "sklearn" in sys.modules:
        yield
        return
    placeholder = Placeholder(DEFERRED)
    placeholder.__spec__ = ModuleSpec(DEFERRED, None)
    sys.modules[DEFERRED] = placeholder
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        _remove(placeholder)
        if collects:
            gc.enable()


def _remove(placeholder: Placeholder) -> None:
    if sys.modules.get(placeholder.__name__) is placeholder:
        del sys.modules[placeholder.__name__]
