"""A prior on the category of a point cloud: beside the paper's table "Point Cloud Graphs".

Each of the 41 objects of FIRSTMM_DB gets a distribution over 11 categories from the objects most similar to
it. Leave-one-out; t_max, and in the last column the number of neighbors, are chosen by leave-one-out on the
other 40 objects, as in ``propkernels.CategoryPrior``; 10 recomputations with other hash functions::

    python -m reproduction.extra.category_prior
    python -m reproduction.extra.category_prior --repeats 3 --method labels p2k
    python -m reproduction.extra.category_prior --refit --method labels  # CategoryPrior itself, fitted anew

Kernels are those of ``reproduction.extra.attributed``, normalized, computed once for all and sliced; with
``--refit`` nothing is shared, and the standardization of attributes, too, is learned from the other 40.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import propkernels as pk
from propkernels.models.category_prior import class_shares, leave_one_out
from reproduction.engine.data import load_source
from reproduction.extra.attributed import METHODS as ATTRIBUTED
from reproduction.extra.attributed import POINT_CLOUD_STEPS, POINT_CLOUDS
from reproduction.extra.records import report, with_error
from reproduction.protocols.nested import SEED, class_numbers, seeds_of, unit
from reproduction.protocols.recipes import matrices_of, redrawn

PAPER = {"labels": 75.6, "wl": 70.7, "labels+attr": 76.8, "p2k": 82.9}
METHODS: dict[str, Callable[[], Any]] = {
    "labels": lambda: pk.PropagationKernel(),
    "wl": lambda: pk.WeisfeilerLehman(),
    **{name: ATTRIBUTED[name] for name in ("labels+attr", "p2k", "p2k-initial", "propagated-5")},
}
SIZES = (1, 2, 3, 5, 10)
SETTINGS: dict[str, tuple[int, ...]] = {**{str(k): (k,) for k in SIZES}, "chosen": SIZES}
FIRST = 3  # a good prior has the category among so many


@dataclass(frozen=True)
class Outcome:
    """How one recomputation did, in percent: the likeliest category, and the first three."""

    accuracy: float
    among_first: float


def measure(data: pk.datasets.Dataset, method: str, repeat: int) -> dict[str, Outcome]:
    """Outcomes by the number of neighbors, from one kernel for each t_max."""
    target = class_numbers(data.target)
    seed = seeds_of(repeat).kernel
    graphs: Any = data.graphs
    stack = matrices_of(redrawn(METHODS[method](), seed), graphs, POINT_CLOUD_STEPS)
    kernels = [unit(kernel) for kernel in stack.values()]
    found = {}
    for setting, sizes in SETTINGS.items():
        shares = np.array([prior_of(kernels, target, i, sizes) for i in range(len(target))])
        found[setting] = judge(shares, target)
    return found


def prior_of(
    kernels: Sequence[np.ndarray], target: np.ndarray, left_out: int, sizes: Sequence[int]
) -> np.ndarray:
    """Distribution over categories from the other objects, with what is best among them."""
    others = np.delete(np.arange(len(target)), left_out)
    known, n_classes = target[others], int(target.max()) + 1
    best: tuple[Any, int, int] | None = None
    for t, kernel in enumerate(kernels):
        part = kernel[np.ix_(others, others)]
        for size, score in zip(sizes, leave_one_out(part, known, n_classes, sizes), strict=True):
            rank = score, size, -t
            if best is None or rank > best[0]:
                best = rank, t, size
    assert best is not None
    _, t, size = best
    return class_shares(kernels[t][[left_out]][:, others], known, n_classes, size)[0]


def refit(data: pk.datasets.Dataset, method: str, repeat: int) -> dict[str, Outcome]:
    """The estimator itself, fitted anew for each object."""
    target = class_numbers(data.target)
    seed = int(np.random.default_rng([SEED, repeat]).integers(2**31))
    prior = pk.CategoryPrior(kernel=METHODS[method](), t_max=POINT_CLOUD_STEPS, random_state=seed)
    shares = cross_val_predict(prior, data.graphs, target, cv=LeaveOneOut(), method="predict_proba")
    return {"chosen": judge(shares, target)}


def judge(shares: np.ndarray, target: np.ndarray) -> Outcome:
    """Compare distributions with the truth."""
    order = np.argsort(-shares, axis=1, kind="stable")
    own = target[:, None]
    some = np.take_along_axis(shares, order, axis=1)[:, :FIRST] > 0
    accuracy = 100 * float(np.mean(order[:, :1] == own))
    return Outcome(accuracy, 100 * float(np.mean(((order[:, :FIRST] == own) & some).any(axis=1))))


def format_table(results: dict[str, list[dict[str, Outcome]]]) -> str:
    """Return the accuracies as Markdown, one line per method."""
    settings = list(next(iter(results.values()))[0])
    lines = [
        f"| method | paper | {' | '.join(settings)} | among first {FIRST} |",
        "|---" * (3 + len(settings)) + "|",
    ]
    for method, repeats in results.items():
        cells = [with_error([found[s].accuracy for found in repeats]) for s in settings]
        first = with_error([found[settings[-1]].among_first for found in repeats])
        lines.append(f"| {method} | {PAPER.get(method, '')} | {' | '.join(cells)} | {first} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment, and print the table: columns are numbers of neighbors."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.category_prior", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--repeats", type=int, default=10, help="recomputations of the kernels (default: 10)")
    parser.add_argument("--refit", action="store_true", help="fit CategoryPrior for each object")
    options = parser.parse_args(arguments)
    data = load_source(POINT_CLOUDS)
    results: dict[str, list[dict[str, Outcome]]] = {}
    for method in options.method:
        results[method] = []
        for repeat in range(options.repeats):
            results[method].append((refit if options.refit else measure)(data, method, repeat))
            report(f"{method}, recomputation {repeat}: {results[method][-1]['chosen'].accuracy:.1f} %")
    print(format_table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
