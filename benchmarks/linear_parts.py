"""A linear model of the HIV molecules, from parts on the disk and from memory: the same coefficients.

``python -m benchmarks.linear_parts`` reads HIV.csv from moleculenet.zip under PROPKERNELS_DATA, computes
hashed features in parts, and learns from them in memory, in parts by threads, and in parts by two processes;
a fifth of the molecules is held out (weight 0). ``--write`` keeps the figures in
docs/measured/results/linear_parts.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from benchmarks.environment import describe
from benchmarks.pages import put
from benchmarks.process import ROOT

RESULTS = ROOT / "docs" / "measured" / "results" / "linear_parts.json"
N_FEATURES, T_MAX, C = 2**20, 5, 10.0


def features_of(folder: Path) -> Any:
    """Hashed features of the HIV molecules, in parts of 200,000 atoms; what RDKit refuses is left out."""
    import propkernels as pk

    with ZipFile(Path(os.environ["PROPKERNELS_DATA"]) / "moleculenet.zip") as archive:
        archive.extract("HIV.csv", folder)
    how: dict[str, Any] = {"target_column": "HIV_active", "errors": "skip"}
    plan = pk.partition(folder / "HIV.csv", nodes_per_part=200_000, **how)
    features = pk.PropagationFeatures(n_features=N_FEATURES, t_max=T_MAX, normalize=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "skipped")
        return pk.featurize(plan, features, folder / "features")


def measure(folder: Path) -> dict[str, Any]:
    """Learn in three ways, and compare."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    import propkernels as pk

    opened = features_of(folder)
    X, y = opened.to_scipy(), opened.target
    held_out = np.random.default_rng(0).random(len(y)) < 0.2
    weights = np.where(held_out, 0.0, 1.0)
    ways = {
        "memory": lambda: pk.LinearModel(C=C).fit(X, y, sample_weight=weights),
        "parts": lambda: pk.LinearModel(C=C).fit_parts(opened, sample_weight=weights),
        "parts, 2 processes": lambda: pk.LinearModel(C=C).fit_parts(
            opened, executor=2, sample_weight=weights
        ),
    }
    models, found = {}, {}
    for name, learn in ways.items():
        start = time.perf_counter()
        models[name] = model = learn()
        scores = model.decision_function(X)[held_out]
        found[name] = {
            "seconds": time.perf_counter() - start,
            "iterations": model.n_iter_,
            "largest difference": float(np.abs(model.coef_ - models["memory"].coef_).max()),
            "same bits": bool(np.array_equal(model.coef_, models["memory"].coef_)),
            "ROC-AUC": float(roc_auc_score(y[held_out], scores)),
        }
    head = {"graphs": len(opened), "parts": opened.n_parts, "entries": X.nnz, "held out": int(held_out.sum())}
    return {**head, "ways": found, "machine": describe()}


def report(found: dict[str, Any]) -> str:
    """The figures as a table."""
    from propkernels._utils.text_tables import format_table

    head = ["learned from", "iterations", "seconds", "largest difference", "same bits", "ROC-AUC"]
    rows = [
        [
            name,
            str(way["iterations"]),
            f"{way['seconds']:.1f}",
            f"{way['largest difference']:g}",
            "yes" if way["same bits"] else "no",
            f"{way['ROC-AUC']:.6f}",
        ]
        for name, way in found["ways"].items()
    ]
    first = f"{found['graphs']:,} molecules in {found['parts']} parts, {found['held out']:,} held out"
    return f"{first}\n{format_table(head, rows, left=('learned from', 'same bits'))}"


def page(found: dict[str, Any]) -> str:
    """The figures for a document."""
    lines = [
        f"| {found['graphs']:,} molecules in {found['parts']} parts | largest difference | ROC-AUC |",
        "|---|---|---|",
    ]
    for name, way in found["ways"].items():
        bits = " (same bits)" if way["same bits"] else ""
        lines.append(f"| {name} | {way['largest difference']:g}{bits} | {way['ROC-AUC']:.6f} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    print(report(found))
    if options.write:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        put("guide/scale.md", "linear_parts", page(found))
    return 0 if all(way["largest difference"] <= 1e-8 for way in found["ways"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
