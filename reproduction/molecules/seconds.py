"""Processor seconds from SMILES to features: parsing, our graphs and features, and fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import propkernels as pk
from propkernels._utils.optional import import_optional
from reproduction.extra.records import keep_records, load_records, report
from reproduction.molecules import sets
from reproduction.molecules.features import ECFP, FEATURES, INVARIANTS, REFINED, refined_of

PARSING, ANSWERS, GRAPHS, ALONE = "parsing", "answers", "graphs", "features alone"
TIMES = 3  # runs, of which the fastest counts
MANY = 10_000  # molecules, from which on only the main rivals are timed
RIVALS = (ANSWERS, GRAPHS, ALONE, REFINED, INVARIANTS, ECFP)


@dataclass(frozen=True)
class Seconds:
    """Processor seconds of one stage on one set.

    Attributes
    ----------
    dataset, stage : str
        "parsing": SMILES into RDKit's molecules; "answers": RDKit alone, asked for the bonds and symbols of
        these, and nothing done with the answers; "graphs": these into a GraphDatabase with symbols as labels;
        "features alone": these into refined symbols; or the name of features: from RDKit's molecules to a
        sparse matrix, graphs included.
    molecules : int
    seconds : float
    """

    dataset: str
    stage: str
    molecules: int
    seconds: float


def measured(name: str) -> Iterator[Seconds]:
    """All stages of one set, in one process."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    texts = [text for text in sets.read_table(sets.SOURCES[name].file)["smiles"] if isinstance(text, str)]
    mols = sets.load(name).mols
    for features in (REFINED, ECFP):  # whatever is set up at the first call
        FEATURES[features](mols[:50])

    def parse() -> None:
        with base.BlockLogs():
            for text in texts:
                chem.MolFromSmiles(text)

    graphs = pk.from_rdkit(mols)
    stages: dict[str, Callable[[], Any]] = {PARSING: parse, ANSWERS: partial(_ask, chem, mols)}
    stages[GRAPHS] = partial(pk.from_rdkit, mols)
    stages[ALONE] = partial(refined_of, graphs)
    stages |= {features: partial(compute, mols) for features, compute in FEATURES.items()}
    for stage, compute in stages.items():
        if len(mols) > MANY and stage not in (PARSING, *RIVALS):
            continue
        best = min(_timed(compute) for _ in range(1 if stage == PARSING else TIMES))
        yield Seconds(name, stage, len(mols), round(best, 4))


def _ask(chem: Any, mols: Sequence[Any]) -> None:
    """What from_rdkit asks of RDKit for labels by symbol."""
    other, number_of = chem.MolFromSmarts("[!#6]"), chem.Atom.GetAtomicNum
    for mol in mols:
        chem.GetAdjacencyMatrix(mol, True)
        mol.ClearProp("AdjacencyMatrixBO")
        for (atom,) in mol.GetSubstructMatches(other, False, False, 1_000_000):
            number_of(mol.GetAtomWithIdx(atom))


def _timed(compute: Callable[[], Any]) -> float:
    start = process_time()
    compute()
    return process_time() - start


def measure_missing(path: Path, names: Sequence[str]) -> list[Seconds]:
    """Time the sets that the file does not hold; return all."""
    known = load_records(path, Seconds)
    done = {record.dataset for record in known}
    for name in names:
        if name not in done:
            found = list(measured(name))
            known += found
            path.parent.mkdir(parents=True, exist_ok=True)
            keep_records(found, path)
            report(f"{name}: " + ", ".join(f"{one.stage} {one.seconds:.2f} s" for one in found))
    return known
