"""Helpers of compiled loops run as Python: compiling each of them for a test takes seconds."""

import numpy as np
import pytest

from propkernels._utils import mixing
from propkernels.counting import entries_compiled
from propkernels.hashing import codes_compiled
from propkernels.tracking import bins_compiled, touched_compiled, wiring_compiled

MODULES = (mixing, entries_compiled, codes_compiled, bins_compiled, touched_compiled, wiring_compiled)


@pytest.fixture
def as_python(monkeypatch):
    """Replace the compiled functions of edits, touched nodes and bins by their Python source."""
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    with np.errstate(over="ignore"):
        yield
