"""What the quick choice of the default models costs in accuracy, beside an exhaustive one.

Stratified 10-fold cross-validation (numbers: ten folds at random); on the training part of each fold the
default model is fitted twice, as it comes and with ``selection="exhaustive"``, which tries every candidate on
all of its graphs::

    python -m reproduction.extra.quick_choice -o results NCI1 BBBP ESOL

Each fold is kept in OUTPUT/quick_choice.jsonl at once and not computed again. The table is a section of the
page that ``python -m reproduction defaults`` writes from the same folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import propkernels as pk
from reproduction.extra.folds_of_defaults import LABELS_ONLY, load, markdown
from reproduction.extra.records import keep_records, load_records, report
from reproduction.molecules.sets import read_table

MOLECULES = {
    "BBBP": ("BBBP.csv", "p_np"),
    "ESOL": ("ESOL_delaney-processed.csv", "measured log solubility in mols per litre"),
    "FreeSolv": ("FreeSolv_SAMPL.csv", "expt"),
}
NUMBERS = ("ESOL", "FreeSolv")
NAMES = ("MUTAG", "BZR", "COX2", "MSRC_9", LABELS_ONLY, "IMDB-BINARY", "PROTEINS", "NCI1", *MOLECULES)
FOLDS, SEED, MOST = 10, 0, 0.3
TITLE = "## What the quick choice costs"
SECTION = f"""
{TITLE}

The default models beside the same with `selection="exhaustive"`, which tries every candidate on all graphs:
the same ten folds, accuracy in percent, or 100 R² for the numbers of ESOL and FreeSolv. ± is the standard
error of the difference over the folds. The aim was at most {MOST} points less. Models of few graphs average
several kernels, which an exhaustive choice does not. Written by

    python -m reproduction.extra.quick_choice
    python -m reproduction defaults

{{table}}
"""


@dataclass(frozen=True)
class Pair:
    """Scores of both choices on one fold, and the processor seconds of their fits."""

    dataset: str
    fold: int
    quick: float
    exhaustive: float
    quick_seconds: float
    exhaustive_seconds: float


def data_of(name: str) -> tuple[Any, Any]:
    """Graphs and target of a set; atoms are labeled by symbol."""
    if name not in MOLECULES:
        return load(name)
    file, column = MOLECULES[name]
    rows = read_table(file)
    return pk.from_smiles(rows["smiles"], errors="empty"), rows[column].to_numpy()


def measure(name: str, fold: int) -> Pair:
    """Fit both models on the training part of a fold, and score them on the rest."""
    graphs, target = data_of(name)
    is_number = name in NUMBERS
    split: Any = (KFold if is_number else StratifiedKFold)(FOLDS, shuffle=True, random_state=SEED)
    train, test = list(split.split(target, target))[fold]
    quick: Any = (pk.PropagationRegressor if is_number else pk.PropagationClassifier)(
        random_state=SEED, n_jobs=1, progress=False
    )
    found = []
    for model in (quick, clone(quick).set_params(selection="exhaustive")):
        start = process_time()
        model.fit(graphs[train], target[train])
        took = process_time() - start
        found.append((round(100 * float(model.score(graphs[test], target[test])), 3), round(took, 2)))
    (a, a_seconds), (b, b_seconds) = found
    return Pair(name, fold, a, b, a_seconds, b_seconds)


def section(folder: Path) -> str:
    """The section of the page, empty where nothing has been measured."""
    pairs = load_records(folder / "quick_choice.jsonl", Pair)
    rows = [row(name, [p for p in pairs if p.dataset == name]) for name in NAMES]
    head = ["data set", "folds", "quick", "exhaustive", "difference", "s per fit", "exhaustive, s per fit"]
    return SECTION.format(table=markdown(head, [row for row in rows if row])) if any(rows) else ""


def row(name: str, pairs: Sequence[Pair]) -> list[str]:
    """One line of the table."""
    if not pairs:
        return []
    gaps = [pair.quick - pair.exhaustive for pair in pairs]
    error = f" ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.1f}" if len(gaps) > 1 else ""
    means = [f"{np.mean([getattr(p, side) for p in pairs]):.1f}" for side in ("quick", "exhaustive")]
    times = [
        f"{np.median([getattr(p, f'{side}_seconds') for p in pairs]):.1f}" for side in ("quick", "exhaustive")
    ]
    return [name, str(len(pairs)), *means, f"{np.mean(gaps):+.1f}{error}", *times]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.extra.quick_choice")
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    parser.add_argument("--folds", type=int, default=FOLDS)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"the set {unknown[0]!r} does not exist: choose among {', '.join(NAMES)}")
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "quick_choice.jsonl"
    done = {(pair.dataset, pair.fold) for pair in load_records(path, Pair)}
    for name in options.names:
        for fold in range(options.folds):
            if (name, fold) not in done:
                pair = measure(name, fold)
                keep_records([pair], path)
                report(f"{name}, fold {fold}: quick {pair.quick:.1f}, exhaustive {pair.exhaustive:.1f}")
    print(section(options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
