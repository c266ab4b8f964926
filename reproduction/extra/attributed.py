"""Treatments of attributes side by side, those of the paper's table "Attributed Graphs" among them.

The protocol is that of ``python -m reproduction attributed`` and, on FIRSTMM_DB, ``point_clouds``; cells are
kept in OUTPUT as theirs are. In the row "chosen", the training part of each fold chooses the treatment, too::

    python -m reproduction.extra.attributed --repeats 3
    python -m reproduction.extra.attributed --dataset ENZYMES BZR --method p2k p2k-initial --repeats 1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from propkernels.kernels import P2K, PropagationKernel
from propkernels.propagation import GaussianMixtures, PropagatedAttributes
from reproduction.engine.cells import Store
from reproduction.engine.results import markdown_table
from reproduction.engine.runner import run
from reproduction.engine.sections import State
from reproduction.engine.tables import accuracy_section, summaries
from reproduction.extra.records import report
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import STEPS, Recipe

NAME, CHOSEN = "treatments", "chosen"
DATASETS = ("ENZYMES", "BZR", "DHFR", "SYNTHETIC", "PROTEINS", "FIRSTMM_DB", "PROTEINS_full")
METHODS: dict[str, Callable[[], Any]] = {
    "labels+attr": lambda: PropagationKernel(attributes="sum"),
    "attr": lambda: PropagationKernel(attributes="sum", labels="degree"),
    "p2k": lambda: P2K(attributes=GaussianMixtures(scale=None, ridge=0)),
    "p2k-initial": lambda: P2K(attributes=GaussianMixtures(scale="initial", ridge=0)),
    "p2k-each": lambda: P2K(attributes=GaussianMixtures(scale="each", ridge=0)),
    "p2k-wide": lambda: P2K(attributes=GaussianMixtures(scale="initial", ridge=1)),
    "product": lambda: PropagationKernel(attributes="product"),
    "propagated": lambda: PropagationKernel(attributes=PropagatedAttributes()),
    "propagated-5": lambda: PropagationKernel(attributes=PropagatedAttributes(), n_hashes=5),
}
POINT_CLOUDS, POINT_CLOUD_STEPS = "FIRSTMM_DB", tuple(range(16))
COSTS: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)
FEWER_COSTS = {"PROTEINS": COSTS[:3], "PROTEINS_full": COSTS[:3], POINT_CLOUDS: ()}


def task(method: str, dataset: str) -> Accuracy:
    """One cell of the table; on point clouds, without C: leave-one-out with the nearest neighbor."""
    kernels = METHODS if method == CHOSEN else {"": METHODS[method]}
    steps = POINT_CLOUD_STEPS if dataset == POINT_CLOUDS else STEPS
    recipe = Recipe({name: make() for name, make in kernels.items()}, steps, is_random=True)
    return Accuracy(NAME, method, dataset, dataset, recipe, FEWER_COSTS.get(dataset, COSTS))


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.attributed", description=__doc__.split("\n")[0]
    )
    methods = [*METHODS, CHOSEN]
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--method", nargs="+", choices=methods, default=methods)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)
    jobs = [
        task(method, dataset).job(options.repeats) for dataset in options.dataset for method in options.method
    ]
    store = Store(options.output)
    run(jobs, store, n_jobs=-1, tell=lambda news: report(f"{news.done}/{news.total}"))
    print(markdown_table(accuracy_section("Treatments of attributes", summaries(State(store, jobs)))))


if __name__ == "__main__":
    main()
