"""``python -m reproduction coverage``: how often intervals and sets contain the truth, and how wide they are.

    python -m reproduction coverage --document docs/measured/coverage.md
    python -m reproduction coverage --dataset ESOL

Twelve sets of molecules, five folds each, at random and by scaffold; tables are read from moleculenet.zip and
moleculeace.zip in the folder that PROPKERNELS_DATA names. Each fold is kept in OUTPUT/coverage.jsonl.
Many draws of exchangeable molecules follow (OUTPUT/draws.jsonl).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

import propkernels as pk
from reproduction.engine.cells import measured_on, write_text
from reproduction.extra.records import Record, chosen_names, markdown, measure_missing
from reproduction.molecules import activity_cliffs, many_draws, sets

COVERAGE = 0.9
CONFORMAL, GROUPED = "conformal", "conformal, groups"
PROCESS, FOREST = "Gaussian process", "forest on ECFP, MAPIE"
METHODS = (CONFORMAL, GROUPED, PROCESS, FOREST)
NUMBERS = (
    "FreeSolv",
    "ESOL",
    "Lipophilicity",
    "BACE pIC50",
    "CHEMBL2147_Ki",
    "CHEMBL219_Ki",
    "CHEMBL237_EC50",
    "CHEMBL4792_Ki",
)
CLASSES = {"BACE": 0, "BBBP": 0, "ClinTox": 1, "Tox21": 10}  # set -> column of the target
SETS = (*NUMBERS, *CLASSES)
KINDS = (  # heading, folds and method
    ("Folds at random", sets.RANDOM, CONFORMAL),
    ("Folds by scaffold", sets.SCAFFOLD, CONFORMAL),
    ("Folds by scaffold, fitted with scaffolds as groups", sets.SCAFFOLD, GROUPED),
)
LARGE = ("Lipophilicity",)  # a Gaussian process or a forest of so many molecules takes minutes per fold
Values = NDArray[np.float64]
PAGE = """# Coverage, measured

Do intervals and sets with `coverage=0.9` contain nine of ten true values, and how wide are they? Twelve sets
of molecules, five folds each, pooled: at random, and such that no Murcko scaffold is in two folds. New
scaffolds are not drawn like the training molecules: intervals are too narrow, unless the model was told by
`fit(..., groups=scaffolds)`. Measured {measured}, by

    python -m reproduction coverage --document docs/measured/coverage.md

{verdict}

## By set

Coverage in percent, and the mean width: of intervals, in standard deviations of the target; of sets, in
classes (the last four rows).

{table}

The Gaussian process is `PropagationRegressor(solver="gp")`, mean ± {quantile:.3f} standard deviations; the
forest has 100 trees on counts of ECFP in MAPIE's `CrossConformalRegressor` (CV+, five folds).
"""


@dataclass(frozen=True)
class Fold(Record):
    """Coverage on the test molecules of one fold.

    Attributes
    ----------
    dataset, split, fold, method
        What was measured.
    tested, covered : list of int
        Test molecules, and how many of them are covered; one entry per class, or one for numbers.
    width : float
        Mean width of intervals in standard deviations of the target, or mean number of classes in a set.
    empty : int
        Number of empty sets.
    seconds : float
        Processor seconds.
    """

    n_keys = 4

    dataset: str
    split: str
    fold: int
    method: str
    tested: list[int]
    covered: list[int]
    width: float
    empty: int
    seconds: float


@lru_cache(maxsize=1)
def load(name: str) -> tuple[sets.Molecules, Any]:
    """Return molecules with one target, and their graphs."""
    if name.startswith("CHEMBL"):
        from rdkit import Chem

        table = activity_cliffs.load(name)
        mols = [Chem.MolFromSmiles(text) for text in table["smiles"]]
        data = sets.Molecules(name, mols, table[["y"]].to_numpy(), False, 0)
    else:
        data = sets.load(name)
        target = data.target[:, CLASSES.get(name, 0)]
        known = np.flatnonzero(~np.isnan(target))
        mols = [data.mols[i] for i in known]
        data = sets.Molecules(name, mols, target[known, None], data.is_class, data.n_unread)
    return data, pk.MoleculesToGraphs().transform(data.mols)


def intervals(method: str, data: sets.Molecules, graphs: Any, train: Any, test: Any) -> Values:
    """Return intervals of the test molecules by one of the methods, (molecules, 2)."""
    target = data.target[:, 0]
    if method in (CONFORMAL, GROUPED):
        model = pk.PropagationRegressor(random_state=0, n_jobs=1, progress=False)
        model.fit(graphs[train], target[train], groups=groups_of(method, data, train))
        return model.predict_interval(graphs[test], COVERAGE)
    if method == PROCESS:
        model = pk.PropagationRegressor(solver="gp", random_state=0, n_jobs=1, progress=False)
        mean, std = model.fit(graphs[train], target[train]).predict(graphs[test], return_std=True)
        return np.asarray(mean[:, None] + norm.ppf((1 + COVERAGE) / 2) * std[:, None] * np.array([-1, 1]))
    return _forest(data, train, test)


def groups_of(method: str, data: sets.Molecules, train: Any) -> Any:
    """Return the scaffolds of the training molecules for the method that is told them, else None."""
    return pk.molecules.scaffolds([data.mols[i] for i in train]) if method == GROUPED else None


def _forest(data: sets.Molecules, train: Any, test: Any) -> Values:
    from rdkit.Chem import rdFingerprintGenerator
    from sklearn.ensemble import RandomForestRegressor

    fingerprint = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    counts = np.stack([fingerprint.GetCountFingerprintAsNumPy(mol) for mol in data.mols])
    forest = RandomForestRegressor(100, max_features=1 / 3, random_state=0, n_jobs=1)
    model = import_module("mapie.regression").CrossConformalRegressor(
        forest, confidence_level=COVERAGE, cv=5, random_state=0
    )
    model.fit_conformalize(counts[train], data.target[train, 0])
    return np.asarray(model.predict_interval(counts[test])[1][:, :, 0])


def measure(name: str, split: str, fold: int, method: str) -> Fold:
    """Return the coverage of one method on one fold."""
    data, graphs = load(name)
    train, test = sets.folds(data, split)[fold]
    truth, start = data.target[test, 0], process_time()
    if data.is_class:
        model = pk.PropagationClassifier(random_state=0, n_jobs=1, progress=False)
        labels, groups = data.target[train, 0].astype(int), groups_of(method, data, train)
        found = model.fit(graphs[train], labels, groups=groups).predict_set(graphs[test], COVERAGE)
        classes = truth.astype(int)
        hit = found[np.arange(len(test)), classes]
        tested, covered = np.bincount(classes, minlength=2), np.bincount(classes[hit], minlength=2)
        width, empty = float(found.sum(axis=1).mean()), int((~found.any(axis=1)).sum())
    else:
        low, high = intervals(method, data, graphs, train, test).T
        tested, covered = np.array([len(test)]), np.array([((low <= truth) & (truth <= high)).sum()])
        width, empty = float((high - low).mean() / data.target.std()), 0
    took = round(process_time() - start, 1)
    return Fold(name, split, fold, method, tested.tolist(), covered.tolist(), round(width, 4), empty, took)


def keys_of(names: Sequence[str]) -> Iterator[tuple[str, str, int, str]]:
    """Yield what is measured: our method on both kinds of folds, with groups by scaffold, then the others."""
    ways = [(CONFORMAL, sets.RANDOM), (CONFORMAL, sets.SCAFFOLD), (GROUPED, sets.SCAFFOLD)]
    for (method, split), name, fold in product(ways, names, range(sets.N_FOLDS)):
        yield name, split, fold, method
    small = [name for name in names if name in NUMBERS and name not in LARGE]
    for name, method, fold in product(small, (PROCESS, FOREST), range(sets.N_FOLDS)):
        yield name, sets.RANDOM, fold, method


def run(names: Sequence[str], folder: Path, document: Path) -> str:
    """Measure what is missing, write the page, and return its verdict."""
    chosen = chosen_names(names, SETS)
    folds = measure_missing(folder / "coverage.jsonl", Fold, keys_of(chosen), measure)
    draws = many_draws.measured(folder / "draws.jsonl", chosen, load, COVERAGE)
    page = PAGE.format(
        measured=measured_on(folder, "coverage.jsonl"),
        verdict=verdict(folds),
        quantile=norm.ppf((1 + COVERAGE) / 2),
        table=table_of(folds),
    )
    write_text(document, page + many_draws.section(draws, measured_on(folder, "draws.jsonl")))
    return verdict(folds)


def pooled(folds: Sequence[Fold], name: str, split: str, method: str = CONFORMAL) -> list[Fold]:
    """Return the folds of one set, split and method."""
    return [f for f in folds if (f.dataset, f.split, f.method) == (name, split, method)]


def coverage_of(folds: Sequence[Fold], group: int | None = None) -> float:
    """Return the coverage in percent, over all molecules or those of one class."""
    part = slice(None) if group is None else slice(group, group + 1)
    covered, tested = (sum(sum(getattr(f, what)[part]) for f in folds) for what in ("covered", "tested"))
    return 100 * covered / tested


def mean_width(folds: Sequence[Fold]) -> float:
    """Return the mean width over all molecules."""
    return float(np.average([f.width for f in folds], weights=[sum(f.tested) for f in folds]))


def verdict(folds: Sequence[Fold]) -> str:
    """Return the mean coverage by split, and the number of sets within one point of 90 %, as sentences."""
    lines = []
    for where, split, method in KINDS:
        found = [of for name in SETS if (of := pooled(folds, name, split, method))]
        if found:
            shares = [coverage_of(of) for of in found]
            near = sum(abs(share - 100 * COVERAGE) <= 1 for share in shares)
            chance = sum(_chance_of_near(of) for of in found)
            span = f"from {min(shares):.1f} to {max(shares):.1f} %"
            lines.append(
                f"- {where}: mean coverage {np.mean(shares):.1f} %, {span}; within one point of 90 % on "
                f"{near} of {len(shares)} sets; of a method that covers exactly 90 %, {chance:.1f} are "
                "expected."
            )
    return "\n".join([*lines, *_mended(folds), *_widths(folds)])


def _mended(folds: Sequence[Fold]) -> list[str]:
    """Return a sentence on what scaffolds as groups change, over the sets measured with and without."""
    both = [[pooled(folds, name, sets.SCAFFOLD, how) for how in (CONFORMAL, GROUPED)] for name in SETS]
    both = [pair for pair in both if len(pair[0]) == len(pair[1]) == sets.N_FOLDS]
    if not both:
        return []
    before, after = (np.mean([coverage_of(pair[i]) for pair in both]) for i in range(2))
    wider = np.mean([mean_width(pair[1]) / mean_width(pair[0]) for pair in both]) - 1
    return [
        f"- On new scaffolds, mean coverage over {len(both)} sets measured with and without groups is "
        f"{before:.1f} %; models that were told the scaffolds have {after:.1f} %, with intervals and sets "
        f"that are {100 * wider:.0f} % larger."
    ]


def _chance_of_near(folds: Sequence[Fold]) -> float:
    """Return the probability that molecules covered with a probability of 90 % are so within one point."""
    n = sum(sum(fold.tested) for fold in folds)
    ends = [n * (COVERAGE + side) for side in (-0.01, 0.01)]
    return float(binom.cdf(np.floor(ends[1]), n, COVERAGE) - binom.cdf(np.ceil(ends[0]) - 1, n, COVERAGE))


def _widths(folds: Sequence[Fold]) -> list[str]:
    """Return sentences that compare the mean width with that of the other methods."""
    lines = []
    for method in (PROCESS, FOREST):
        both = [
            (pooled(folds, name, sets.RANDOM), pooled(folds, name, sets.RANDOM, method)) for name in NUMBERS
        ]
        both = [(ours, theirs) for ours, theirs in both if len(ours) == len(theirs) == sets.N_FOLDS]
        if both:
            ours, theirs = (np.mean([mean_width(pair[i]) for pair in both]) for i in range(2))
            share = np.mean([coverage_of(pair[1]) for pair in both])
            lines.append(
                f"- Mean width on {len(both)} sets of numbers, folds at random: {ours:.2f} "
                f"standard deviations; {method}: {theirs:.2f}, with a mean coverage of {share:.1f} %."
            )
    return lines


def table_of(folds: Sequence[Fold]) -> str:
    """Return coverage and width of each set, for each kind of folds."""
    rows = []
    for name in SETS:
        found = [pooled(folds, name, split, method) for _, split, method in KINDS]
        if any(found):
            cells = [
                [f"{coverage_of(of):.1f}", f"{mean_width(of):.2f}"] if of else ["-", "-"] for of in found
            ]
            rows.append([name, *(text for pair in cells for text in pair)])
    heads = [[text, "width"] for text in ("at random", "by scaffold", "by scaffold, groups")]
    return markdown(["set", *(text for pair in heads for text in pair)], rows)
