"""Which case a number stands for: its family, and all that is drawn from it.

A family is a module of this folder with ``draw``, which makes a case of a number, and ``run``, which puts it
through its check.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from fuzz.cases import Case


class Family(NamedTuple):
    """Share of all cases, and what the cases are."""

    share: float
    about: str


FAMILIES = {
    "pointers": Family(0.25, "offsets, sizes and indices: accepted if, and only if, Python's integers agree"),
    "offsets": Family(0.25, "offsets, sizes and indices near powers of two, or wrapping, at every door"),
    "forged": Family(0.12, "model files of every kind, Parquet, parts, shards and plans, sealed again"),
    "adapters": Family(0.12, "graphs of other libraries that lie, and graphs that go there and back"),
    "hostile": Family(0.10, "matrices with broken indices, odd labels, attributes, images and parameters"),
    "invariances": Family(0.10, "16 invariances of a random estimator with random parameters"),
    "files": Family(0.04, "data sets in the TU layout and checkpoints with damaged bytes"),
    "parts": Family(0.01, "feature folders, manifests, plans and shards with damaged bytes; resuming"),
    "twins": Family(0.03, "kernels beside slow implementations in exact arithmetic"),
    "grids": Family(0.02, "images beside the same grids as graphs; batches, masks, borders"),
    "learning": Family(0.02, "an index after a random history; learners in batches and pickled"),
    "sets": Family(0.02, "hashes, copies, search, clusters, folds, comparisons and alignments by definition"),
    "nodes": Family(0.01, "learning on nodes: hostile targets, other orders of nodes, pickles"),
    "changes": Family(0.02, "graphs in time, and live graphs beside the changed graph from scratch"),
    "processes": Family(0.01, "one result, to the bit, in two interpreters that hash strings differently"),
    "saving": Family(0.01, "accepted by save_model implies readable and equal: ids, labels, classes"),
    "tables": Family(0.006, "one table through all its readers; data sets converted and read again"),
    "targets": Family(0.004, "targets in other units, and targets too large to be squared"),
    "commands": Family(0.003, "commands with bad words, numbers and files"),
    "pages": Family(0.003, "pages and notebook fragments of hostile texts and targets"),
}
NAMES = list(FAMILIES)
EDGES = np.cumsum([family.share for family in FAMILIES.values()])


def module_of(name: str) -> Any:
    """The module of a family, imported when it is first needed."""
    return import_module(f"fuzz.{name}")


def case_of(number: int, only: str | None = None) -> Case:
    """Draw the case of a number; ``only`` names one family instead of all."""
    if only is None:
        at = np.random.default_rng([number, 12]).random() * EDGES[-1]
        only = NAMES[int(np.searchsorted(EDGES, at, side="right"))]
    case: Case = module_of(only).draw(number)
    return case


def run(case: Case) -> object:
    """Put a case through its check."""
    return module_of(case.family).run(case)
