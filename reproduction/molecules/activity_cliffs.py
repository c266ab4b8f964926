"""``python -m reproduction moleculeace``: the default regressor on activity cliffs, vs. published methods.

    python -m reproduction moleculeace --document docs/measured/moleculeace.md
    python -m reproduction moleculeace --dataset CHEMBL2147_Ki --repeats 1

Thirty targets of ChEMBL with the training and test parts of van Tilborg, Alenicheva and Grisoni (2022), read
from moleculeace.zip in the folder that PROPKERNELS_DATA names. ``--repeats`` is the number of seeds, three by
default. Each fit is kept in OUTPUT/moleculeace.jsonl as soon as it is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import propkernels as pk
from reproduction.drawings import draw_strips
from reproduction.engine.cells import measured_on, write_text
from reproduction.extra.records import Record, chosen_names, describe_model, markdown, measure_missing
from reproduction.molecules.sets import read_table

ARCHIVE = "moleculeace.zip"
PUBLISHED = "results/MoleculeACE_results.csv"
N_SEEDS = 3
OURS = "propkernels"
BASELINE = "SVR on counts of ECFP, min-max"
COSTS, EPSILON = (1.0, 3.0, 10.0, 30.0), 0.1
PICTURE = "moleculeace.png"
LATER = {"CheMeleon (2025), by its authors": (0.666, 0.764)}  # mean of five seeds: all, on cliffs
SHOWN = 10  # best methods in the table
PAGE = """# Activity cliffs: MoleculeACE

`make_pipeline(MoleculesToGraphs(), PropagationRegressor(random_state=seed))`, {seeds}, on the thirty targets
of MoleculeACE (van Tilborg, Alenicheva and Grisoni, Journal of Chemical Information and Modeling 2022), with
the training and test molecules of its authors, vs. the 24 methods of their table. Everything is chosen on
the training molecules. One of the default kernels, the sum with shortest paths, was found within the
training molecules of four of these targets. Test molecules were predicted twice before: 0.631, then, with
that kernel, 0.630. Measured {measured}, by

    python -m reproduction moleculeace --document docs/measured/moleculeace.md

{verdict}

![Root mean squared error of all methods on the thirty targets](pictures/{picture})

## By method

The {shown} best methods: mean over the thirty targets of the root mean squared error of log10 potency, over
all test molecules and over those on an activity cliff (a similar molecule has a potency that differs at
least ten-fold); "{ours} ahead": on how many targets its error is smaller. "{baseline}" was measured here:
scikit-learn's SVR with the min-max kernel of RDKit's counts of ECFP of radius 2. **Counts and min-max
instead of bits and a radial kernel are most of the lead over the published methods.**

{methods}
"""


@dataclass(frozen=True)
class Fit(Record):
    """Errors of the default model on the test part of one target.

    Attributes
    ----------
    dataset : str
    seed : int
    rmse, cliff_rmse : float
        Root mean squared error over all test molecules, and over those on an activity cliff.
    seconds : float
        Processor seconds from SMILES to predictions.
    chosen : str
        Kernel and settings.
    """

    n_keys = 2

    dataset: str
    seed: int
    rmse: float
    cliff_rmse: float
    seconds: float
    chosen: str


def published() -> Any:
    """Return the authors' table, one row per target and method; ``method`` joins algorithm and descriptor."""
    table = read_table(PUBLISHED, ARCHIVE)
    table["method"] = table["algorithm"] + " on " + table["descriptor"]
    return table


def load(name: str) -> Any:
    """Return the molecules of one target: columns smiles, y (potency), split and cliff_mol."""
    return read_table(f"data/{name}.csv", ARCHIVE)


def measure(name: str, seed: int) -> Fit:
    """Fit the default pipeline on the training part, and return its errors on the test part."""
    table = load(name)
    train, test = table[table["split"] != "test"], table[table["split"] == "test"]
    start = process_time()
    regressor = pk.PropagationRegressor(random_state=seed, n_jobs=1, progress=False)
    model = make_pipeline(pk.MoleculesToGraphs(), regressor)
    model.fit(train["smiles"].tolist(), train["y"].to_numpy())
    predicted = model.predict(test["smiles"].tolist())
    took = process_time() - start
    errors, cliffs = (predicted - test["y"].to_numpy()) ** 2, test["cliff_mol"].to_numpy() == 1
    rmse, cliff_rmse = (round(float(np.sqrt(part.mean())), 4) for part in (errors, errors[cliffs]))
    return Fit(name, seed, rmse, cliff_rmse, round(took, 2), describe_model(regressor))


def measure_baseline(name: str, seed: int) -> Fit:
    """Fit a support vector regression on counts of fingerprints to the training part."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    table, start = load(name), process_time()
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    mols = [Chem.MolFromSmiles(text) for text in table["smiles"]]
    found = [generator.GetSparseCountFingerprint(mol).GetNonzeroElements() for mol in mols]
    cells = [(i, (bit, level)) for i, own in enumerate(found) for bit, n in own.items() for level in range(n)]
    rows, levels = zip(*cells, strict=True)
    column = {level: j for j, level in enumerate(dict.fromkeys(levels))}
    shape = len(mols), len(column)
    counts = csr_array((np.ones(len(rows)), (rows, [column[level] for level in levels])), shape=shape)
    shared = np.asarray((counts @ counts.T).toarray())
    own = shared.diagonal()
    kernel = shared / (own[:, None] + own - shared)
    is_test, y = table["split"].to_numpy() == "test", table["y"].to_numpy()
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    middle, unit = y[train].mean(), y[train].std()
    machine = SVR(kernel="precomputed", epsilon=EPSILON)
    folds = KFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(machine, {"C": COSTS}, scoring="neg_mean_squared_error", cv=folds)
    search.fit(kernel[np.ix_(train, train)], (y[train] - middle) / unit)
    predicted = search.predict(kernel[np.ix_(test, train)]) * unit + middle
    took = process_time() - start
    errors, cliffs = (predicted - y[test]) ** 2, table["cliff_mol"].to_numpy()[test] == 1
    rmse, cliff_rmse = (round(float(np.sqrt(part.mean())), 4) for part in (errors, errors[cliffs]))
    return Fit(name, seed, rmse, cliff_rmse, round(took, 2), f"C={search.best_params_['C']:g}")


def run(names: Sequence[str], folder: Path, document: Path, repeats: int | None = None) -> str:
    """Measure what is missing, write page and figure, and return the verdict."""
    table = published()
    targets = chosen_names(names, sorted(table["dataset"].unique()), "target")
    keys = [(name, seed) for seed in range(repeats or N_SEEDS) for name in targets]
    fits = measure_missing(folder / "moleculeace.jsonl", Fit, keys, measure)
    alone = [(name, 0) for name in targets]
    baseline = measure_missing(folder / "moleculeace_svr.jsonl", Fit, alone, measure_baseline)
    errors = errors_of(fits, baseline, table)
    measured = measured_on(folder, "moleculeace.jsonl", "moleculeace_svr.jsonl")
    write_text(document, page_of(fits, errors, measured))
    pictures = document.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    draw_strips(errors["rmse"].to_dict(), OURS, "root mean squared error").savefig(
        pictures / PICTURE, dpi=150
    )
    return verdict(errors)


Errors = dict[str, Any]  # kind of error -> data frame, one row per target and one column per method


def errors_of(fits: Sequence[Fit], baseline: Sequence[Fit], table: Any) -> Errors:
    """Return errors of all methods on the measured targets; ours are means over the seeds."""
    targets = sorted({fit.dataset for fit in fits})
    found: Errors = {}
    for kind in ("rmse", "cliff_rmse"):
        found[kind] = table.pivot(index="dataset", columns="method", values=kind).loc[targets]
        for name, own in ((OURS, fits), (BASELINE, baseline)):
            found[kind][name] = [
                float(np.mean([getattr(fit, kind) for fit in own if fit.dataset == target]))
                for target in targets
            ]
    return found


def verdict(errors: Errors) -> str:
    """Return the means vs. those of the best published methods, and the number of targets ahead."""
    lines = []
    for kind, what in (("rmse", "all test molecules"), ("cliff_rmse", "molecules on activity cliffs")):
        ours, theirs = errors[kind][OURS], errors[kind].drop(columns=[OURS, BASELINE])
        means = theirs.mean()
        lines.append(
            f"- {what.capitalize()}: **{ours.mean():.3f}**; the best of {len(means)} published methods, "
            f"{means.idxmin()}: {means.min():.3f}. Ahead of the best of all methods, picked per target, on "
            f"{(ours < theirs.min(axis=1)).sum()} of {len(ours)} targets. {BASELINE}, measured here: "
            f"{errors[kind][BASELINE].mean():.3f}."
        )
    return "\n".join(lines)


def page_of(fits: Sequence[Fit], errors: Errors, measured: str) -> str:
    """Return the page."""
    n_seeds = len({fit.seed for fit in fits})
    return PAGE.format(
        verdict=verdict(errors),
        measured=measured,
        picture=PICTURE,
        ours=OURS,
        baseline=BASELINE,
        methods=methods_table(errors),
        shown=SHOWN,
        seeds=f"{n_seeds} seeds" if n_seeds > 1 else "one seed",
    )


def methods_table(errors: Errors) -> str:
    """Return one row per method, smallest mean error first."""
    means, cliffs = errors["rmse"].mean(), errors["cliff_rmse"].mean()
    ahead = errors["rmse"].gt(errors["rmse"][OURS], axis=0).sum()
    found = {method: (means[method], cliffs[method], f"{ahead[method]}") for method in means.index}
    found |= {method: (*both, "-") for method, both in LATER.items()} | {OURS: (*found[OURS][:2], "-")}
    rows = []
    for method, (error, on_cliffs, n_ahead) in sorted(found.items(), key=lambda item: item[1][0])[:SHOWN]:
        cells = [method, f"{error:.3f}", f"{on_cliffs:.3f}"]
        rows.append([*(f"**{cell}**" if method == OURS else cell for cell in cells), n_ahead])
    return markdown(["method", "RMSE", "RMSE on cliffs", f"{OURS} ahead"], rows)
