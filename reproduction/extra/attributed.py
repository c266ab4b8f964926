"""Treatments of attributes side by side, those of the paper's table "Attributed Graphs" among them.

The protocol is that of ``python -m reproduction attributed``; cells are kept as there::

    python -m reproduction.extra.attributed --dataset ENZYMES BZR --method p2k product --repeats 3

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from reproduction.engine.cells import Store
from reproduction.engine.jobs import run
from reproduction.engine.sections import State
from reproduction.engine.tables import matrix_section, summaries
from reproduction.extra.records import report
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import ALGORITHM_4, STEPS, Recipe, Settings, p2k, pk

NAME = "treatments"
DATASETS = ("ENZYMES", "BZR", "DHFR", "SYNTHETIC", "PROTEINS", "FIRSTMM_DB", "PROTEINS_full")
POINT_CLOUDS, POINT_CLOUD_STEPS = "FIRSTMM_DB", tuple(range(16))
PROPAGATED = pk("auto", {"is": "PropagatedAttributes"})
METHODS: dict[str, Settings] = {
    "labels+attr": pk("auto", "sum"),
    "attr": pk("degree", "sum"),
    "p2k": p2k("auto"),
    "p2k-initial": {**p2k("auto"), "attributes": {**ALGORITHM_4, "scale": "initial"}},
    "p2k-each": {**p2k("auto"), "attributes": {**ALGORITHM_4, "scale": "each"}},
    "p2k-wide": {**p2k("auto"), "attributes": {**ALGORITHM_4, "scale": "initial", "ridge": 1.0}},
    "product": pk("auto", "product"),
    "propagated": PROPAGATED,
    "propagated-5": {**PROPAGATED, "n_hashes": 5},
}


def task(method: str, dataset: str) -> Accuracy:
    """One cell of the table; on point clouds, leave-one-out with the nearest neighbor."""
    is_cloud = dataset == POINT_CLOUDS
    recipe = Recipe(METHODS[method], POINT_CLOUD_STEPS if is_cloud else STEPS, is_random=True)
    variants = ("normalized",) if is_cloud else ("plain", "normalized")
    return Accuracy(NAME, method, dataset, dataset, recipe, variants, is_leave_one_out=is_cloud)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.attributed", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)
    jobs = [
        task(method, dataset).job(options.repeats) for dataset in options.dataset for method in options.method
    ]
    store = Store(options.output)
    run(jobs, store, n_jobs=-1, tell=lambda news: report(f"{news.done}/{news.total}"))
    print(matrix_section("Treatments of attributes", summaries(State(store, jobs))).markdown())


if __name__ == "__main__":
    main()
