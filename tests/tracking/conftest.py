"""Helpers of compiled loops run as Python: compiling each of them for a test takes seconds."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils import mixing
from propkernels.codes import codes_compiled
from propkernels.counts import entries_compiled
from propkernels.tracking import bins_compiled, touched_compiled, wiring_compiled
from tests.tracking.edited import Edited
from tests.tracking.test_trackers import ALL

MODULES = (mixing, entries_compiled, codes_compiled, bins_compiled, touched_compiled, wiring_compiled)


@pytest.fixture(scope="session")
def compiled_before():
    """Compile what trackers need, since compiled code cannot call the functions of the next fixture."""
    graph = pk.GraphDatabase(np.ones((3, 3)) - np.eye(3), [0, 3], ["a", "b", "a"])
    edited = Edited(graph.with_edge_labels([0, 1, 1, 0, 0, 1]), 0, n_edits=2)
    for kernel in ALL.values():
        edited.vocabulary(kernel).tracker(edited.graph, edited.alphabet)


@pytest.fixture
def as_python(compiled_before, monkeypatch):
    """Replace the compiled functions of edits, touched nodes and bins by their Python source."""
    for module in MODULES:
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    with np.errstate(over="ignore"):
        yield
