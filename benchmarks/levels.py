"""How often p-values are small where nothing is to be found: ``python -m benchmarks.levels [REPETITIONS]``.

Samples are drawn from one distribution again and again, discrete (few kinds of graphs, so that many
statistics are equal) or continuous (no two graphs are equal). A p-value is valid if P(p <= a) is at most a.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from propkernels.kernels import LabelHistogram

Values = NDArray[np.float64]
LEVELS = (0.01, 0.05, 0.1, 0.5)
N_PERMUTATIONS = 99
CYCLE, STAR = ([(i, (i + 1) % 6) for i in range(6)], [(0, i) for i in range(1, 6)])


def two_kinds() -> pk.GraphDatabase:
    """Return a ring and a star of six nodes."""
    return pk.check_graphs([_dense(CYCLE, 6), _dense(STAR, 6)])


def no_two_equal(n: int = 4000) -> pk.GraphDatabase:
    """Return random trees whose nodes have random numbers as attributes."""
    rng, graphs = np.random.default_rng(0), []
    for _ in range(n):
        size = int(rng.integers(4, 10))
        graphs.append(_dense([(int(rng.integers(i)), i) for i in range(1, size)], size))
    trees = pk.check_graphs(graphs)
    return trees.with_attributes(rng.normal(size=(trees.n_nodes, 1)))


def _dense(edges: list[tuple[int, int]], size: int) -> Values:
    matrix = np.zeros((size, size))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1.0
    return matrix


KINDS, TREES = two_kinds(), no_two_equal()
WL = pk.WeisfeilerLehman(t_max=1)
WALK = pk.PropagationKernel(t_max=2, normalize=True, random_state=0)
ATTRIBUTES = pk.PropagationKernel(t_max=1, attributes="joint", attribute_bin_width=1.0, random_state=0)


def discrete(rng: np.random.Generator, n: int, share: float = 0.03) -> pk.GraphDatabase:
    """Draw n graphs of two kinds; the second has the given share."""
    return KINDS[(rng.random(n) < share).astype(np.int64)]


def continuous(rng: np.random.Generator, n: int) -> pk.GraphDatabase:
    """Draw n different trees."""
    return TREES[rng.choice(len(TREES), n, replace=False)]


Draw = Callable[[np.random.Generator, int], pk.GraphDatabase]


def two_samples(draw: Draw, sizes: tuple[int, int], kernel: object) -> Callable[[int], Values]:
    """Return the function that draws two samples of one distribution and tests them."""

    def once(seed: int) -> Values:
        graphs = draw(np.random.default_rng(seed), sum(sizes))
        parts = graphs[: sizes[0]], graphs[sizes[0] :]
        test = pk.two_sample_test(*parts, kernel=kernel, n_permutations=N_PERMUTATIONS, random_state=seed)
        return np.array([test.p_value])

    return once


def novelty(draw: Draw, n_train: int = 30, n_new: int = 10) -> Callable[[int], Values]:
    """Return the function that judges new graphs by a detector that was fitted on others."""

    def once(seed: int) -> Values:
        graphs = draw(np.random.default_rng(seed), n_train + n_new)
        kernel = pk.PropagationKernel(t_max=2, random_state=0)
        detector = pk.NoveltyDetector(kernel=kernel, random_state=seed).fit(graphs[:n_train])
        return np.asarray(detector.predict_p(graphs[n_train:]))

    return once


def paired(draw: Draw, metric: str) -> Callable[[int], Values]:
    """Return the function that compares models of targets that have nothing to do with the graphs.

    The second sees the graphs in another order, so that neither is the better one.
    """

    def once(seed: int) -> Values:
        rng = np.random.default_rng(seed)
        graphs = draw(rng, 30)
        target = rng.permutation(np.arange(30) % 2) if metric == "accuracy" else rng.normal(size=30)
        kinds = {"accuracy": pk.PropagationClassifier, "r2": pk.PropagationRegressor}
        model = kinds[metric](kernel=ATTRIBUTES, t_max=1, C=1.0)
        other = graphs[rng.permutation(30)]
        first, second = (
            pk.evaluate(g, target, model=model, cv=3, random_state=seed) for g in (graphs, other)
        )
        return np.array([first.compare(second).corrected_p])

    return once


class Case(NamedTuple):
    """What is repeated: a function of a seed that returns p-values."""

    name: str
    once: Callable[[int], Values]


CASES = (
    Case(
        "two_sample_test, equal graphs, 200 and 4",
        two_samples(lambda r, n: discrete(r, n, 0.0), (200, 4), WALK),
    ),
    Case("two_sample_test, two kinds, 500 and 4", two_samples(discrete, (500, 4), None)),
    Case("two_sample_test, two kinds, 4 and 500, WL", two_samples(discrete, (4, 500), WL)),
    Case(
        "two_sample_test, two kinds, 20 and 30", two_samples(lambda r, n: discrete(r, n, 0.5), (20, 30), WALK)
    ),
    Case("two_sample_test, continuous, 20 and 30", two_samples(continuous, (20, 30), ATTRIBUTES)),
    Case("two_sample_test, trees, 10 and 10", two_samples(continuous, (10, 10), LabelHistogram())),
    Case("predict_p, equal graphs", novelty(lambda r, n: discrete(r, n, 0.0))),
    Case("predict_p, two kinds", novelty(discrete)),
    Case("predict_p, trees", novelty(continuous)),
    Case("Evaluation.compare, accuracy", paired(continuous, "accuracy")),
    Case("Evaluation.compare, R^2", paired(continuous, "r2")),
)


def shares(case: Case, repetitions: int) -> Values:
    """Return the shares of p-values up to each level."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([case.once(i) for i in range(repetitions)])
    return np.array([np.mean(found <= a + 1e-12) for a in LEVELS])


def main() -> None:
    """Print a table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{'case':45}" + "".join(f"  p<={a:<5g}" for a in LEVELS), flush=True)
    for case in CASES:
        found = shares(case, repetitions)
        print(f"{case.name:45}" + "".join(f"  {share:7.4f}" for share in found), flush=True)


if __name__ == "__main__":
    main()
