"""``python -m reproduction moleculeace``: the default regressor on activity cliffs, beside published methods.

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
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

import propkernels as pk
from reproduction.drawings import draw_strips
from reproduction.engine.cells import write_text
from reproduction.extra.records import chosen_names, describe_model, markdown, measure_missing
from reproduction.molecules.sets import read_table

ARCHIVE = "moleculeace.zip"
PUBLISHED = "results/MoleculeACE_results.csv"
N_SEEDS = 3
OURS = "propkernels"
PICTURE = "moleculeace.png"
PAGE = """# Activity cliffs: MoleculeACE

`make_pipeline(MoleculesToGraphs(), PropagationRegressor(random_state=seed))` without any other setting,
on the thirty targets of MoleculeACE (van Tilborg, Alenicheva and Grisoni, "Exposing the limitations of
molecular machine learning with activity cliffs", Journal of Chemical Information and Modeling 2022), with
the training and test molecules that its authors published, beside the 24 methods of their table. Kernel
and settings are chosen by cross-validation on the training molecules; the test molecules are predicted
once. One of the default kernels, the sum with shortest paths, was chosen by cross-validation within the
training molecules of four of these targets; the others on other sets. Written by

    python -m reproduction moleculeace --document docs/measured/moleculeace.md

{verdict}

![Root mean squared error of all methods on the thirty targets](pictures/{picture})

## By method

Mean over the thirty targets of the root mean squared error of log10 potency, over all test molecules and
over those on an activity cliff (a similar molecule has a potency that differs at least ten-fold). "{ours}
ahead": on how many targets its error is smaller.

{methods}

## By target

{ours}: mean over {seeds} (± standard deviation over the seeds). The best of the 24 methods is picked for
each target by its error on the test molecules, which flatters it. Seconds are processor seconds of one
core for one fit, from SMILES to predictions.

{targets}
"""
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Fit:
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

    dataset: str
    seed: int
    rmse: float
    cliff_rmse: float
    seconds: float
    chosen: str

    @property
    def key(self) -> tuple[str, int]:
        """What tells fits apart."""
        return self.dataset, self.seed


@dataclass(frozen=True, eq=False)
class Target:
    """Molecules of one target.

    Attributes
    ----------
    smiles : list of str
    values : ndarray of float64
        Potency, the negative logarithm of a concentration.
    is_test, is_cliff : ndarray of bool
    """

    smiles: list[str]
    values: NDArray[np.float64]
    is_test: Flags
    is_cliff: Flags


def published() -> Any:
    """Return the authors' table, one row per target and method; ``method`` joins algorithm and descriptor."""
    table = read_table(PUBLISHED, ARCHIVE)
    table["method"] = table["algorithm"] + " on " + table["descriptor"]
    return table


def load(name: str) -> Target:
    """Return the molecules of one target."""
    table = read_table(f"data/{name}.csv", ARCHIVE)
    is_test = (table["split"] == "test").to_numpy()
    return Target(
        table["smiles"].tolist(), table["y"].to_numpy(), is_test, table["cliff_mol"].to_numpy() == 1
    )


def measure(name: str, seed: int) -> Fit:
    """Fit the default pipeline on the training part, and return its errors on the test part."""
    data = load(name)
    train, test = np.flatnonzero(~data.is_test), np.flatnonzero(data.is_test)
    start = process_time()
    regressor = pk.PropagationRegressor(random_state=seed, n_jobs=1, progress=False)
    model = make_pipeline(pk.MoleculesToGraphs(), regressor)
    model.fit([data.smiles[i] for i in train], data.values[train])
    predicted = model.predict([data.smiles[i] for i in test])
    took = process_time() - start
    errors, cliffs = (predicted - data.values[test]) ** 2, data.is_cliff[test]
    rmse, cliff_rmse = (round(float(np.sqrt(part.mean())), 4) for part in (errors, errors[cliffs]))
    return Fit(name, seed, rmse, cliff_rmse, round(took, 2), describe_model(regressor))


def run(names: Sequence[str], folder: Path, document: Path, repeats: int | None = None) -> str:
    """Measure what is missing, write page and figure, and return the verdict."""
    table = published()
    targets = chosen_names(names, sorted(table["dataset"].unique()), "target")
    keys = [(name, seed) for seed in range(repeats or N_SEEDS) for name in targets]
    fits = measure_missing(folder / "moleculeace.jsonl", Fit, keys, measure)
    errors = errors_of(fits, table)
    write_text(document, page_of(fits, errors))
    pictures = document.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    draw_strips(errors["rmse"], OURS, "root mean squared error").savefig(pictures / PICTURE, dpi=150)
    return verdict(errors)


Errors = dict[str, dict[str, dict[str, float]]]  # kind of error -> method -> target -> error


def errors_of(fits: Sequence[Fit], table: Any) -> Errors:
    """Return errors of all methods on the measured targets; ours are means over the seeds."""
    targets = sorted({fit.dataset for fit in fits})
    found: Errors = {}
    for kind in ("rmse", "cliff_rmse"):
        means = {t: float(np.mean([getattr(f, kind) for f in fits if f.dataset == t])) for t in targets}
        rows = zip(table["method"], table["dataset"], table[kind], strict=True)
        by_method: dict[str, dict[str, float]] = {OURS: means}
        for method, target, error in rows:
            if target in means:
                by_method.setdefault(method, {})[target] = float(error)
        found[kind] = by_method
    return found


def mean_error(errors: dict[str, float]) -> float:
    """Return the mean over the targets."""
    return float(np.mean(list(errors.values())))


def n_ahead(errors: dict[str, dict[str, float]], method: str) -> int:
    """Return the number of targets on which our error is smaller than that of a method."""
    return sum(errors[OURS][target] < error for target, error in errors[method].items())


def best_published(errors: dict[str, dict[str, float]], target: str) -> tuple[str, float]:
    """Return the published method with the smallest error on a target, and this error."""
    others = {method: of[target] for method, of in errors.items() if method != OURS and target in of}
    best = min(others, key=lambda method: others[method])
    return best, others[best]


def verdict(errors: Errors) -> str:
    """Return the means beside those of the best published methods, and the number of targets ahead."""
    targets = list(errors["rmse"][OURS])
    lines = []
    for kind, what in (("rmse", "all test molecules"), ("cliff_rmse", "molecules on activity cliffs")):
        means = {method: mean_error(of) for method, of in errors[kind].items()}
        best = min((method for method in means if method != OURS), key=lambda method: means[method])
        ahead = sum(errors[kind][OURS][t] < best_published(errors[kind], t)[1] for t in targets)
        lines.append(
            f"- {what.capitalize()}: **{means[OURS]:.3f}**; the best of {len(means) - 1} published methods, "
            f"{best}: {means[best]:.3f}. Ahead of the best of all methods, picked per target, on {ahead} of "
            f"{len(targets)} targets."
        )
    return "\n".join(lines)


def page_of(fits: Sequence[Fit], errors: Errors) -> str:
    """Return the page."""
    n_seeds = len({fit.seed for fit in fits})
    return PAGE.format(
        verdict=verdict(errors),
        picture=PICTURE,
        ours=OURS,
        methods=methods_table(errors),
        seeds=f"{n_seeds} seeds" if n_seeds > 1 else "one seed",
        targets=targets_table(fits, errors),
    )


def methods_table(errors: Errors) -> str:
    """Return one row per method, smallest mean error first."""
    means = {method: mean_error(of) for method, of in errors["rmse"].items()}
    rows = []
    for method in sorted(means, key=lambda one: means[one]):
        mark = "**" if method == OURS else ""
        cliffs = mean_error(errors["cliff_rmse"][method])
        ahead = "-" if method == OURS else f"{n_ahead(errors['rmse'], method)}"
        rows.append(
            [f"{mark}{method}{mark}", f"{mark}{means[method]:.3f}{mark}", f"{mark}{cliffs:.3f}{mark}", ahead]
        )
    return markdown(["method", "RMSE", "RMSE on cliffs", f"{OURS} ahead"], rows)


def targets_table(fits: Sequence[Fit], errors: Errors) -> str:
    """Return one row per target, with the best published method."""
    rows = []
    for target in errors["rmse"][OURS]:
        ours = [fit for fit in fits if fit.dataset == target]
        row = [target]
        for kind in ("rmse", "cliff_rmse"):
            values = [getattr(fit, kind) for fit in ours]
            spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
            method, best = best_published(errors[kind], target)
            text = f"{np.mean(values):.3f}{spread}"
            row += [f"**{text}**" if np.mean(values) < best else text, f"{best:.3f} ({method})"]
        rows.append([*row, f"{np.mean([fit.seconds for fit in ours]):.1f}"])
    head = ["target", "RMSE", "best of 24", "RMSE on cliffs", "best of 24", "seconds"]
    return markdown(head, rows)
