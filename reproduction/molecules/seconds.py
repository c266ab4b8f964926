"""Processor seconds from SMILES to features: parsing, our graphs and features, and fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import process_time
from typing import Any

import propkernels as pk
from reproduction.molecules import sets
from reproduction.molecules.features import ECFP, FEATURES, INVARIANTS, REFINED, refined_of

PARSING, GRAPHS, ALONE = "parsing", "graphs", "features alone"
STAGES = (PARSING, GRAPHS, ALONE, *FEATURES)
TIMES = 3  # runs, of which the fastest counts
ONLY_RIVALS = {"HIV": (PARSING, GRAPHS, ALONE, REFINED, INVARIANTS, ECFP)}


@dataclass(frozen=True)
class Seconds:
    """Processor seconds of one stage on one set.

    Attributes
    ----------
    dataset, stage : str
        "parsing": SMILES into RDKit's molecules; "graphs": these into a GraphDatabase with symbols as labels;
        "features alone": graphs into refined symbols; or the name of features: from RDKit's molecules to a
        sparse matrix, graphs included.
    molecules : int
    seconds : float
    """

    dataset: str
    stage: str
    molecules: int
    seconds: float

    @property
    def key(self) -> tuple[str, str]:
        """What tells timings apart."""
        return self.dataset, self.stage


@lru_cache(maxsize=1)
def loaded(name: str) -> tuple[list[Any], pk.GraphDatabase]:
    """Molecules of a set, and their graphs; whatever is set up at the first call is set up."""
    mols = sets.load(name).mols
    for features in (REFINED, ECFP):
        FEATURES[features](mols[:50])
    return mols, pk.from_rdkit(mols)


def keys_of(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what is timed."""
    yield from ((name, stage) for name in names for stage in ONLY_RIVALS.get(name, STAGES))


def measure(name: str, stage: str) -> Seconds:
    """Time a stage."""
    mols, graphs = loaded(name)
    times = []
    for _ in range(1 if stage == PARSING else TIMES):
        start = process_time()
        if stage == PARSING:
            sets.load(name)
        elif stage == GRAPHS:
            pk.from_rdkit(mols)
        elif stage == ALONE:
            refined_of(graphs)
        else:
            FEATURES[stage](mols)
        times.append(process_time() - start)
    return Seconds(name, stage, len(mols), round(min(times), 4))
