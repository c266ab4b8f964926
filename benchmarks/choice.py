"""How long the default models take to choose: ``python -m benchmarks.choice [NAME ...]``.

Processor seconds of ``fit`` without any setting but the seed, best of some runs, beside one support vector
machine on the kernel that was chosen. NCI1 comes from the folder that PROPKERNELS_DATA names, molecules from
``moleculenet.zip`` in it; four fifths of BBBP, drawn at random, are learned from, and all of the others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC, SVR

import propkernels as pk
from reproduction.molecules.sets import read_table


class Fit(NamedTuple):
    """A default model, the file and columns it learns from, and the processor seconds it may take."""

    model: Any
    source: str
    target: str
    share: float
    aim: float | None


FITS = {
    "NCI1": Fit(pk.PropagationClassifier(random_state=0), "NCI1", "", 1.0, 12.0),
    "BBBP": Fit(pk.PropagationClassifier(random_state=0), "BBBP.csv", "p_np", 0.8, 2.0),
    "BBBP-linear": Fit(
        pk.PropagationClassifier(random_state=0, solver="linear"), "BBBP.csv", "p_np", 0.8, 2.0
    ),
    "ESOL": Fit(
        pk.PropagationRegressor(random_state=0),
        "ESOL_delaney-processed.csv",
        "measured log solubility in mols per litre",
        1.0,
        5.0,
    ),
    "FreeSolv": Fit(pk.PropagationRegressor(random_state=0), "FreeSolv_SAMPL.csv", "expt", 1.0, None),
}


def data_of(fit: Fit) -> tuple[Any, Any]:
    """Graphs and target of a measurement."""
    if not fit.source.endswith(".csv"):
        data = pk.datasets.load(fit.source)
        return data.graphs, np.asarray(data.target)
    rows = read_table(fit.source)
    graphs = pk.from_smiles(rows["smiles"], errors="empty")
    target = rows[fit.target].to_numpy()
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[: round(fit.share * len(rows))])
    return graphs[chosen], target[chosen]


def seconds(function: Callable[[], Any], repeats: int) -> float:
    """Least processor seconds of some runs."""
    taken = []
    for _ in range(repeats):
        before = time.process_time()
        function()
        taken.append(time.process_time() - before)
    return min(taken)


def measure(name: str, repeats: int) -> str:
    """One row of the table."""
    fit = FITS[name]
    graphs, target = data_of(fit)
    fitted = clone(fit.model).fit(graphs, target)  # compiles what it needs
    took = seconds(lambda: clone(fit.model).fit(graphs, target), repeats)
    kernel = clone(fitted.kernel_).set_params(normalize=bool(fitted.normalize_)).fit_transform(graphs)
    machine = SVC if hasattr(fitted, "classes_") else SVR
    once = seconds(lambda: machine(C=fitted.C_, kernel="precomputed").fit(kernel, target), repeats)
    aim = "-" if fit.aim is None else f"{fit.aim:.0f}"
    return (
        f"{name:12} {len(graphs):7,} {took:8.2f} {aim:>5} {once:9.3f} {took / once:7.0f}  {fitted.score_:.3f}"
    )


def main() -> None:
    """Print a table, one row per model."""
    parser = argparse.ArgumentParser(description="Processor seconds of the default models' fit.")
    parser.add_argument("names", nargs="*", default=list(FITS), metavar="NAME", help=", ".join(FITS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in FITS]
    if unknown:
        parser.error(f"the model {unknown[0]!r} does not exist: choose among {', '.join(FITS)}")
    print(f"{'model':12} {'graphs':>7} {'fit, s':>8} {'aim':>5} {'one SVM':>9} {'ratio':>7}  score")
    for name in options.names:
        print(measure(name, options.repeats), flush=True)


if __name__ == "__main__":
    main()
