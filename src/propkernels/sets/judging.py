"""judge: how well generated graphs reproduce the distribution of training graphs, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import binomtest, t

from propkernels._utils.checks import check_integer, check_share, shown
from propkernels._utils.parallel import run_threads
from propkernels._utils.randomness import draw_seed
from propkernels._utils.text_tables import format_table
from propkernels._utils.typing import Array, Estimator, Record, Seed
from propkernels.convert.check import check_edges
from propkernels.counts.counters import StreamCounts
from propkernels.counts.products import self_products
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.models.classifier import PropagationClassifier
from propkernels.search.index import GraphIndex
from propkernels.search.nearest import Query
from propkernels.sets.comparing import (
    Comparison,
    Surrounding,
    compare_samples,
    counting_kernel,
    joined,
    n_pairs,
    shared_features,
)
from propkernels.sets.hashes import equal_graphs

N_BLOCKS = 20  # of graphs that the jackknife leaves out in turn
Values = NDArray[np.float64]


class Interval(NamedTuple):
    """A number, and the ends of its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Judgement:
    """Result of :func:`propkernels.judge`.

    Attributes
    ----------
    valid : float
        Share of generated graphs that are valid. The rest is about these.
    unique : float
        Number of distinct graphs, over that of all graphs, by isomorphism.
    novel : float
        Share of distinct graphs that are not isomorphic to a training graph.
    memorized : ndarray of int64
        Positions of the generated graphs that are isomorphic to a training graph.
    mmd : list of Interval
        For t = 0, 1, ...: unbiased MMD^2 by surroundings of radius t alone, with a confidence interval.
    accuracy : float
        Share of held-out graphs that a classifier assigns to the right collection; about 0.5 if it sees no
        difference.
    accuracy_p_value : float
        Probability of such an accuracy by guessing.
    coverage : float
        Share of training graphs that have a generated graph among their neighbors.
    density : float
        Mean number of training graphs in whose neighborhood a generated graph is, over the number of
        neighbors; about 1 for samples of one distribution.
    comparison : Comparison
        Of training (A) and generated graphs (B).
    sizes : (int, int)
        Numbers of training graphs and of generated graphs, invalid ones included.
    """

    valid: float
    unique: float
    novel: float
    memorized: NDArray[np.int64]
    mmd: list[Interval]
    accuracy: float
    accuracy_p_value: float
    coverage: float
    density: float
    comparison: Comparison
    sizes: tuple[int, int]
    _level: float = field(default=0.95, repr=False)

    def missing(self, n: int = 10) -> list[Surrounding]:
        """Return surroundings of training graphs that no generated graph has, the surest first."""
        return self._absent(1, n)

    def invented(self, n: int = 10) -> list[Surrounding]:
        """Return surroundings of generated graphs that no training graph has, the surest first."""
        return self._absent(0, n)

    def _absent(self, side: int, n: int) -> list[Surrounding]:
        witness = self.comparison.witness
        places = np.flatnonzero(witness.shares[:, side] == 0)[: check_integer(n, "n", 0)]
        return [witness[int(place)] for place in places]

    def records(self) -> list[Record]:
        """Return one record per figure: its name, its value, and the value of a perfect generator."""
        figures = [
            ("valid", self.valid, "1"),
            ("unique", self.unique, "1"),
            ("novel", self.novel, "-"),
            *((f"MMD^2, t = {t}", one.value, "0") for t, one in enumerate(self.mmd)),
            ("accuracy", self.accuracy, "0.5"),
            ("coverage", self.coverage, "1"),
            ("density", self.density, "1"),
        ]
        return [{"figure": name, "value": value, "perfect": perfect} for name, value, perfect in figures]

    def __repr__(self) -> str:
        return f"Judgement(sizes={self.sizes}, valid={self.valid:.3g}, novel={self.novel:.3g})"

    def __str__(self) -> str:
        notes = {f"MMD^2, t = {t}": _between(one) for t, one in enumerate(self.mmd)}
        notes["accuracy"] = f"p = {self.accuracy_p_value:.2g}"
        notes["novel"] = f"{len(self.memorized):,} memorized"
        rows = [
            [one["figure"], f"{one['value']:.4g}", one["perfect"], notes.get(one["figure"], "")]
            for one in self.records()
        ]
        head = ["figure", "value", "perfect", f"{100 * self._level:.3g} % interval"]
        title = f"{self.sizes[1]:,} generated graphs, {self.sizes[0]:,} training graphs"
        return f"{title}\n{format_table(head, rows, left=('figure', head[-1]))}"


def _between(one: Interval) -> str:
    return f"{one.low:.3g} to {one.high:.3g}"


def judge(
    train: Graphs,
    generated: Graphs,
    *,
    is_valid: Sequence[bool] | None = None,
    kernel: Estimator | None = None,
    n_neighbors: int = 5,
    n_sampled: int = 2000,
    n_permutations: int = 199,
    confidence: float = 0.95,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Judgement:
    """Return how well generated graphs reproduce the distribution of training graphs, and where they differ.

    Copies of training graphs have a perfect distribution and nothing new: look at ``novel`` and ``memorized``
    too. Held-out graphs of the same origin, judged in the same way, show what is possible.

    Parameters
    ----------
    train : GraphDatabase or sequence of graphs
        Training graphs of the generator, or held-out graphs.
    generated : GraphDatabase or sequence of graphs
        Its graphs.
    is_valid : sequence of bool or None, default=None
        Whether each generated graph is valid. None: graphs with nodes are; ``from_smiles(errors="empty")``
        returns graphs without nodes for texts that are not molecules.
    kernel : estimator or None, default=None
        As in :func:`propkernels.compare`.
    n_neighbors : int, default=5
        The neighborhood of a training graph reaches to the training graph of this rank in similarity.
    n_sampled : int, default=2000
        Number of graphs of each collection for the classifier, and of neighborhoods; drawn at random.
    n_permutations : int, default=199
        As in :func:`propkernels.compare`.
    confidence : float, default=0.95
        Probability that an interval contains the MMD^2 of the distributions.
    random_state : int, RandomState or None, default=0
        Seed of all random draws.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Returns
    -------
    Judgement

    See Also
    --------
    compare : Test of two collections.

    Notes
    -----
    Intervals are those of a jackknife that leaves out 20 blocks of graphs in turn. The classifier two-sample
    test is that of [1]_, with a :class:`propkernels.PropagationClassifier` that learns from half of the
    graphs and is tested on the others. Density and coverage are those of [2]_, with the Jaccard similarity of
    counts instead of a distance.

    References
    ----------
    .. [1] D. Lopez-Paz and M. Oquab (2017). Revisiting classifier two-sample tests. ICLR.
    .. [2] M. F. Naeem, S. J. Oh, Y. Uh, Y. Choi and J. Yoo (2020). Reliable fidelity and diversity metrics
       for generative models. ICML.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(120, random_state=0).graphs
    >>> copies = pk.judge(graphs[:60], graphs[:60])
    >>> copies.valid, copies.novel, len(copies.memorized), copies.coverage
    (1.0, 0.0, 60, 1.0)
    >>> fresh = pk.judge(graphs[:60], graphs[60:])
    >>> bool(fresh.novel > 0.9)
    True
    """
    check_share(confidence, "confidence")
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    known, made = check_edges(train), check_edges(generated)
    mask = made.graph_sizes > 0 if is_valid is None else np.asarray(is_valid)
    if mask.dtype.kind not in "biu" or not np.isin(mask, (0, 1)).all():
        raise TypeError(f"is_valid must hold True or False for each generated graph, got {shown(is_valid)}")
    if mask.shape != (len(made),):
        raise ValueError(f"is_valid has {len(mask)} entries for {len(made)} generated graphs")
    sizes, places = (len(known), len(made)), np.flatnonzero(mask)
    if min(len(known), len(places)) < 2 * N_BLOCKS:
        raise ValueError(
            f"{2 * N_BLOCKS} training graphs and valid generated graphs are needed, got {len(known)} and "
            f"{len(places)}"
        )
    made, seed = made[places], draw_seed(random_state)
    chosen = counting_kernel(kernel, seed)
    unique, novel, copies = _originality(known, made, n_jobs)
    comparison = compare_samples(known, made, chosen, n_permutations, seed, n_jobs)
    normalize = bool(getattr(chosen, "normalize", False))
    mmd = mmd_by_radius(comparison.witness._streams, len(known), normalize, confidence, seed)
    drawn = [_drawn(own, check_integer(n_sampled, "n_sampled", 2), seed) for own in (known, made)]
    sampled = known[drawn[0]], made[drawn[1]]
    accuracy, p_value = _told_apart(*sampled, counting_kernel(kernel, seed), seed, n_jobs)
    near = (check_integer(n_neighbors, "n_neighbors", 1, len(known) - 1), n_jobs)
    coverage, density = _neighborhoods(known, made, drawn[0], counting_kernel(kernel, seed), *near)
    found = (len(places) / sizes[1], unique, novel, places[copies], mmd, accuracy, p_value, coverage, density)
    return Judgement(*found, comparison, sizes, confidence)


def _originality(
    known: GraphDatabase, made: GraphDatabase, n_jobs: int | None
) -> tuple[float, float, NDArray[np.int64]]:
    """Return shares of unique and novel graphs, and the positions of copies of training graphs."""
    classes = equal_graphs(joined([known, made]), n_jobs)
    own = classes[len(known) :]
    is_copy = np.isin(own, classes[: len(known)])
    n_distinct = len(np.unique(own))
    n_novel = len(np.unique(own[~is_copy]))
    return n_distinct / len(made), n_novel / n_distinct, np.flatnonzero(is_copy)


def mmd_by_radius(
    streams: Sequence[StreamCounts], n_first: int, normalize: bool, confidence: float, seed: int
) -> list[Interval]:
    """Return the unbiased MMD^2 of the streams of each iteration, with confidence intervals."""
    steps = sorted({stream.iteration for stream in streams})
    found = []
    for step in steps:
        features, _ = shared_features([one for one in streams if one.iteration == step], normalize)
        found.append(jackknife_mmd(features, n_first, confidence, seed))
    return found


def jackknife_mmd(features: csr_array, n_first: int, confidence: float, seed: int) -> Interval:
    """Return the unbiased MMD^2 of the first rows and the others, and its interval by a block jackknife."""
    rng, n_rows = np.random.default_rng(seed), features.shape[0]
    blocks = np.empty(n_rows, dtype=np.int64)
    for first, last in ((0, n_first), (n_first, n_rows)):
        blocks[first:last] = rng.permutation(last - first) % N_BLOCKS
    parts = [_block_sums(features[rows], blocks[rows]) for rows in (slice(n_first), slice(n_first, None))]
    value = _mmd_of_sums(parts, None)
    without = np.array([_mmd_of_sums(parts, block) for block in range(N_BLOCKS)])
    variance = (N_BLOCKS - 1) / N_BLOCKS * float(((without - without.mean()) ** 2).sum())
    reach = float(t.ppf((1 + confidence) / 2, N_BLOCKS - 1)) * math.sqrt(variance)
    return Interval(value, value - reach, value + reach)


def _block_sums(features: csr_array, blocks: NDArray[np.int64]) -> tuple[Values, Values, Values]:
    """Return sums of features, sums of squared lengths, and numbers of rows, per block."""
    n_rows = len(blocks)
    members = csr_array((np.ones(n_rows), (blocks, np.arange(n_rows))), shape=(N_BLOCKS, n_rows))
    sums: Values = (members @ features).toarray()
    squares = np.bincount(blocks, self_products(features), minlength=N_BLOCKS).astype(np.float64)
    return sums, squares, np.bincount(blocks, minlength=N_BLOCKS).astype(np.float64)


def _mmd_of_sums(parts: Sequence[tuple[Values, Values, Values]], left_out: int | None) -> float:
    """Return the unbiased MMD^2 of all blocks but one, equation (3) of Gretton et al. (2012)."""
    kept = [np.delete(np.arange(N_BLOCKS), [] if left_out is None else [left_out])] * 2
    (first, first_squares, m), (second, second_squares, n) = (
        (sums[rows].sum(axis=0), squares[rows].sum(), int(sizes[rows].sum()))
        for (sums, squares, sizes), rows in zip(parts, kept, strict=True)
    )
    within = (first @ first - first_squares) / n_pairs(m) + (second @ second - second_squares) / n_pairs(n)
    return float(within - 2 * (first @ second) / (m * n))


def _drawn(graphs: GraphDatabase, number: int, seed: int) -> NDArray[np.int64]:
    """Return the positions of random graphs, all if there are not more."""
    return np.sort(np.random.default_rng(seed).permutation(len(graphs))[:number])


def _told_apart(
    first: GraphDatabase, second: GraphDatabase, kernel: Any, seed: int, n_jobs: int | None
) -> tuple[float, float]:
    """Return the accuracy of a classifier of held-out graphs, first against second, and its p-value."""
    size = min(len(first), len(second)) // 2
    rng = np.random.default_rng(seed)
    halves = [np.split(rng.permutation(len(own))[: 2 * size], 2) for own in (first, second)]
    learned, tested = (joined([first[halves[0][i]], second[halves[1][i]]]) for i in (0, 1))
    target: Array = np.repeat([0, 1], size)
    model = PropagationClassifier(kernel=kernel, C=1.0, normalize=False, random_state=seed, n_jobs=n_jobs)
    n_right = int((model.fit(learned, target).predict(tested) == target).sum())
    p_value = binomtest(n_right, 2 * size, 0.5, alternative="greater").pvalue
    return n_right / (2 * size), float(p_value)


def _neighborhoods(
    known: GraphDatabase,
    made: GraphDatabase,
    centers: NDArray[np.int64],
    kernel: Any,
    k: int,
    n_jobs: int | None,
) -> tuple[float, float]:
    """Return coverage and density: generated graphs among the k nearest training graphs of a center.

    A generated graph is in a neighborhood if it is as similar to the center as its k-th nearest training
    graph other than itself.
    """
    index = GraphIndex(kernel=kernel, similarity="jaccard", n_jobs=n_jobs).fit(known)
    queries = Query.all(index._counter.count(known[centers], None, n_jobs), index._measure)
    reach = [float(values[-1]) for values, _ in index._file.nearest(queries, k + 1, n_jobs)]
    others = index._file.of(index._counter.extend(made).count(made, None, n_jobs))
    above = [float(np.nextafter(least, -1)) for least in reach]
    pairs = list(zip(queries, above, strict=True))
    n_inside = np.array(
        run_threads(lambda one: len(others.nearest([one[0]], len(made), 1, one[1])[0][0]), pairs, n_jobs)
    )
    return float((n_inside > 0).mean()), float(n_inside.sum() * len(known) / len(centers) / (k * len(made)))
