"""A prior on the category of a point cloud: beside the paper's table "Point Cloud Graphs".

Each of the 41 objects of FIRSTMM_DB gets a distribution over 11 categories from the objects most similar to
it. Leave-one-out; t_max, and in the last column the number of neighbors, are chosen by leave-one-out on the
other 40 objects; 10 recomputations with other hash functions::

    python -m reproduction.extra.category_prior
    python -m reproduction.extra.category_prior --repeats 3 --method labels p2k
    python -m reproduction.extra.category_prior --refit --method labels

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
from numpy.typing import NDArray

import propkernels as pk
from reproduction.engine.data import load_source
from reproduction.extra.attributed import METHODS as ATTRIBUTED
from reproduction.extra.attributed import POINT_CLOUD_STEPS, POINT_CLOUDS
from reproduction.extra.records import report, with_error
from reproduction.protocols.nested import class_numbers, seeds_of, unit
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
DIGITS = 12  # decimals of shares: rounding makes them independent of the order of summation
Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]


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
    t, size = best_of([kernel[np.ix_(others, others)] for kernel in kernels], known, n_classes, sizes)
    return class_shares(kernels[t][[left_out]][:, others], known, n_classes, size)[0]


def best_of(
    kernels: Sequence[Matrix], target: Classes, n_classes: int, sizes: Sequence[int]
) -> tuple[int, int]:
    """Return the kernel and the number of neighbors that are best by leave-one-out.

    Among equals, the most neighbors and then the first kernel.
    """
    ranks = [
        (score, size, -t)
        for t, kernel in enumerate(kernels)
        for size, score in zip(sizes, leave_one_out(kernel, target, n_classes, sizes), strict=True)
    ]
    _, size, t = max(ranks)
    return -t, size


def refit(data: pk.datasets.Dataset, method: str, repeat: int) -> dict[str, Outcome]:
    """Outcomes with a kernel that is fitted anew for each object."""
    target, graphs, seed = class_numbers(data.target), data.graphs, seeds_of(repeat).kernel
    n_classes, shares = int(target.max()) + 1, []
    for i in range(len(target)):
        others = np.delete(np.arange(len(target)), i)
        stack = matrices_of(redrawn(METHODS[method](), seed), graphs[others], POINT_CLOUD_STEPS)
        t, size = best_of([unit(kernel) for kernel in stack.values()], target[others], n_classes, SIZES)
        kernel = redrawn(METHODS[method](), seed, normalize=True, t_max=POINT_CLOUD_STEPS[t])
        row = kernel.fit(graphs[others]).transform(graphs[[i]])
        shares.append(class_shares(row, target[others], n_classes, size)[0])
    return {"chosen": judge(np.array(shares), target)}


def class_shares(similarities: Matrix, classes: Classes, n_classes: int, n_neighbors: int) -> Matrix:
    """Return the sum of similarities to the nearest graphs, per class, normalized to sum 1.

    Parameters
    ----------
    similarities : ndarray, (m, n)
        Similarities of m graphs to n training graphs; -inf: ignored.
    classes : ndarray of int, (n,)
    n_classes : int
    n_neighbors : int
        Number of nearest graphs used; ties with the last one are included, so that order does not matter.

    Returns
    -------
    ndarray, (m, n_classes)
        Rows sum to 1. A graph without positive similarities gets the class frequencies.

    Examples
    --------
    >>> row, classes = np.array([[0.9, 0.1, 0.6, 0.3]]), np.array([0, 0, 1, 1])
    >>> class_shares(row, classes, 2, 3)
    array([[0.5, 0.5]])
    >>> class_shares(row, classes, 2, 2)
    array([[0.6, 0.4]])
    """
    return _shares(similarities, classes, n_classes, [n_neighbors])[0]


def leave_one_out(kernel: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[float]:
    """Return the leave-one-out accuracy for each number of neighbors."""
    others = kernel.copy()
    np.fill_diagonal(others, -np.inf)
    possible = [min(size, len(classes) - 1) for size in sizes]
    shares = _shares(others, classes, n_classes, possible)
    return [float(np.mean(share.argmax(axis=1) == classes)) for share in shares]


def _shares(similarities: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[Matrix]:
    """Return class shares for each number of neighbors; other similarities are skipped."""
    m, n = similarities.shape
    ranks = [n - min(size, n) for size in sizes]
    least = np.partition(similarities, sorted(set(ranks)), axis=1)[:, ranks]
    rows, columns = np.nonzero((similarities >= least.min(axis=1, keepdims=True)) & (similarities > 0))
    values, places = similarities[rows, columns], rows * n_classes + classes[columns]
    shares = []
    for i in range(len(sizes)):
        near = values >= least[rows, i]
        totals = np.bincount(places[near], values[near], m * n_classes).reshape(m, n_classes)
        isolated = totals.sum(axis=1) == 0
        totals[isolated] = np.isfinite(similarities[isolated]) @ np.eye(n_classes)[classes]
        shares.append(np.round(totals / totals.sum(axis=1, keepdims=True), DIGITS))
    return shares


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
    parser.add_argument("--refit", action="store_true", help="fit the kernel for each object")
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
