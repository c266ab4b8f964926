"""Which case a number stands for: its family, and all that is drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fuzz import (
    adapters,
    files,
    forged,
    grids,
    hostile,
    invariances,
    learning,
    offsets,
    parts,
    processes,
    twins,
)
from fuzz.cases import Case


class Family(NamedTuple):
    """How cases are drawn and run, and how large their share is."""

    draw: Callable[[int], Case]
    run: Callable[[Case], object]
    share: float


FAMILIES = {
    "invariances": Family(invariances.draw, invariances.run, 0.36),
    "hostile": Family(hostile.draw, hostile.run, 0.34),
    "offsets": Family(offsets.draw, offsets.run, 0.30),
    "adapters": Family(adapters.draw, adapters.run, 0.15),
    "forged": Family(forged.draw, forged.run, 0.15),
    "files": Family(files.draw, files.run, 0.06),
    "parts": Family(parts.draw, parts.run, 0.02),
    "twins": Family(twins.draw, twins.run, 0.06),
    "grids": Family(grids.draw, grids.run, 0.05),
    "learning": Family(learning.draw, learning.run, 0.04),
    "processes": Family(processes.draw, processes.run, 0.03),
}


def case_of(number: int, only: str | None = None) -> Case:
    """Draw the case of a number; ``only`` names one family instead of all."""
    rng = np.random.default_rng([number, 12])
    shares = [family.share for family in FAMILIES.values()]
    name = only or str(rng.choice(list(FAMILIES), p=np.array(shares) / sum(shares)))
    return FAMILIES[name].draw(number)


def run(case: Case) -> object:
    """Put a case through its check."""
    return FAMILIES[case.family].run(case)
