"""compare: test whether two collections of graphs have one distribution, and list where they differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from scipy.stats import ttest_1samp
from sklearn.base import clone

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_integer
from propkernels._utils.optional import data_frame
from propkernels._utils.parallel import run_threads
from propkernels._utils.randomness import draw_seed
from propkernels._utils.safe_files import atomic_write
from propkernels._utils.text_tables import format_number, format_table
from propkernels._utils.typing import Estimator, PathLike, Record, Seed
from propkernels.convert.check import check_graphs
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.products import inverse_length, self_products
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import label_text
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.search.index import DEFAULT_T_MAX, check_counting

if TYPE_CHECKING:
    from pandas import DataFrame

Values = NDArray[np.float64]
NUMBERS_AT_ONCE = 2**24  # sums of features in memory at a time, over bins and permutations


@dataclass(frozen=True, eq=False)
class Surrounding:
    """A bin that two collections have in different numbers.

    Attributes
    ----------
    t : int
        The iteration.
    contribution : float
        Contribution of the bin to the statistic.
    more_in : {"A", "B"}
        Collection with the larger mean count.
    share_a, share_b : float
        Share of the graphs of each collection in which the bin occurs.
    graph : int
        Position of an example in the collection ``more_in``: its first graph with the bin.
    nodes : ndarray of int64
        The nodes of the bin in the example; for shortest paths, pairs of nodes, (pairs, 2). With the base
        kernel "intersection", only first levels have nodes.
    labels : tuple
        Labels of these nodes; missing labels are omitted.
    """

    t: int
    contribution: float
    more_in: str
    share_a: float
    share_b: float
    graph: int
    nodes: NDArray[np.int64]
    labels: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Witness:
    """The bins in which two collections differ, the surest first: a sequence of Surrounding.

    A frequent bin contributes much by chance. Under exchanges of graphs, the contribution of a bin whose
    features have variance v has a standard deviation of about sqrt(2) v (1 / m + 1 / n), for collections of
    m and n graphs: bins are ordered by their contribution over this standard deviation.

    Attributes
    ----------
    contributions : ndarray, (bins,)
        Contribution of each bin to the statistic: they add up to it. Bins of one graph contribute 0 and are
        left out.
    scores : ndarray, (bins,)
        Contribution over its standard deviation under exchanges of graphs; descending.
    iterations : ndarray of int64, (bins,)
    shares : ndarray, (bins, 2)
        Shares of graphs with the bin, in A and in B.
    """

    contributions: Values
    scores: Values
    iterations: NDArray[np.int64]
    shares: Values
    _more_in_b: NDArray[np.bool_] = field(repr=False)
    _places: NDArray[np.int64] = field(repr=False)  # stream and column of each bin, (bins, 2)
    _streams: list[StreamCounts] = field(repr=False)
    _counter: Counter = field(repr=False)
    _graphs: GraphDatabase = field(repr=False)
    _n_first: int = field(repr=False)

    def __len__(self) -> int:
        return len(self.contributions)

    def __getitem__(self, number: int) -> Surrounding:
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} bins, not {number}")
        stream, column = self._places[number].tolist()
        is_b = bool(self._more_in_b[number])
        graph = self._example(self._streams[stream], column, is_b)
        nodes, labels = self._nodes(graph, stream, int(self._streams[stream].codes[column]))
        share_a, share_b = self.shares[number].tolist()
        place = graph - is_b * self._n_first
        t, contribution = int(self.iterations[number]), float(self.contributions[number])
        return Surrounding(t, contribution, "AB"[is_b], share_a, share_b, place, nodes, labels)

    def __iter__(self) -> Iterator[Surrounding]:
        return (self[i] for i in range(len(self)))

    def _example(self, stream: StreamCounts, column: int, is_b: bool) -> int:
        """Return the first graph of a collection with a bin."""
        rows = slice(self._n_first, None) if is_b else slice(0, self._n_first)
        start, stop = stream.counts.indptr[rows.start], stream.counts.indptr[-1 if is_b else self._n_first]
        entry = start + int(np.flatnonzero(stream.counts.indices[start:stop] == column)[0])
        return int(np.searchsorted(stream.counts.indptr, entry, side="right")) - 1

    def _nodes(self, graph: int, stream: int, code: int) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
        """Return the nodes of a bin in a graph, and their labels."""
        alone = self._graphs[np.array([graph])]
        for number, items in enumerate(self._counter.occurrences(alone, None)):
            if number == stream:
                found = np.flatnonzero(items.codes == code)
                nodes = found if items.nodes is None else items.nodes[found]
                break
        nodes = nodes[:, 0] if nodes.ndim == 2 and nodes.shape[1] == 1 else nodes
        column = alone.label_column
        if not isinstance(column, LabelColumn):
            return nodes, ()
        known = np.unique(column.ids[nodes.ravel()])
        return nodes, tuple(column.values[i] for i in known.tolist() if i >= 0)

    def label_names(self, one: Surrounding) -> list[str]:
        """Return the labels of a bin as texts: by their names, if the graphs have names of labels."""
        known = self._graphs.names.labels
        return [label_text(label, known) for label in one.labels]

    def records(self, n: int | None = None) -> list[Record]:
        """Return one record per bin, of the first n: t, contribution, more_in, shares, example, labels."""
        return [
            {name: value for name, value in vars(self[i]).items() if name != "nodes"}
            | {"nodes": self[i].nodes.tolist()}
            for i in range(len(self) if n is None else min(n, len(self)))
        ]

    def to_frame(self, n: int | None = None) -> DataFrame:
        """Return the records as a pandas DataFrame."""
        return data_frame(self.records(n))

    def table(self, n: int = 10) -> str:
        """Return a text table of the first n bins."""
        rows = [
            [
                str(one.t),
                format_number(one.contribution),
                one.more_in,
                f"{100 * one.share_a:.1f} %",
                f"{100 * one.share_b:.1f} %",
                ", ".join(self.label_names(one)) or "-",
                str(one.graph),
            ]
            for one in (self[i] for i in range(min(check_integer(n, "n", 1), len(self))))
        ]
        head = ["t", "adds", "more in", "of A", "of B", "labels", "graph"]
        return format_table(head, rows, left=("more in", "labels"))

    def __repr__(self) -> str:
        return f"Witness({len(self):,} bins)"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of :func:`propkernels.compare`.

    Attributes
    ----------
    statistic : float
        Unbiased estimate of the squared maximum mean discrepancy (MMD); about 0 for samples of one
        distribution, and possibly negative.
    p_value : float
        Probability of a statistic this large if both are samples of one distribution.
    witness : Witness
        The bins in which the collections differ.
    permuted : ndarray, (permutations,)
        Statistics after random exchanges of graphs; empty with blocks.
    sizes : (int, int)
        Numbers of graphs.
    blocks : ndarray, (blocks,)
        Statistic of each block; empty without blocks.
    """

    statistic: float
    p_value: float
    witness: Witness
    permuted: Values
    sizes: tuple[int, int]
    blocks: Values = field(default_factory=lambda: np.empty(0))

    def save(self, path: PathLike, *, names: tuple[str, str] = ("A", "B"), n: int = 24) -> None:
        """Write an HTML page: the test, and drawings of the surroundings in which the collections differ.

        Parameters
        ----------
        path : str or path
            File to write.
        names : (str, str), default=("A", "B")
            Names of the collections.
        n : int, default=24
            Number of surroundings.
        """
        from propkernels.sets.comparison_page import page

        text = page(self, (str(names[0]), str(names[1])), check_integer(n, "n", 1))
        with atomic_write(path, text=True) as stream:
            stream.write(text)

    def _repr_html_(self) -> str:
        from propkernels.sets.comparison_page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        return f"Comparison(statistic={self.statistic:.6g}, p_value={self.p_value:.4g}, sizes={self.sizes})"

    def __str__(self) -> str:
        first = f"MMD^2 = {self.statistic:.6g} between {self.sizes[0]:,} and {self.sizes[1]:,} graphs, "
        way = f"{len(self.blocks):,} blocks" if len(self.blocks) else f"{len(self.permuted):,} permutations"
        return f"{first}p = {self.p_value:.4g} ({way})\n{self.witness.table()}"


def compare(
    A: Graphs,
    B: Graphs,
    *,
    kernel: Estimator | None = None,
    n_permutations: int = 999,
    n_blocks: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Test whether two collections of graphs are samples of one distribution, and list where they differ.

    The statistic is the unbiased estimate of the squared maximum mean discrepancy [1]_, equation (3): with
    graphs a_1, ..., a_m and b_1, ..., b_n, the mean of k(a_i, a_j) over i != j, plus the mean of
    k(b_i, b_j) over i != j, minus twice the mean of k(a_i, b_j). For a kernel that counts, it is a sum over
    bins of sums over graphs, so no matrix of pairs is formed. Its p-value is exact: the share of random
    exchanges of graphs, with the given one, whose statistic is at least as large.

    Parameters
    ----------
    A, B : GraphDatabase or sequence of graphs
        Two graphs each, at least.
    kernel : estimator or None, default=None
        A dot product of counts, as in :class:`GraphIndex`; None:
        ``PropagationKernel(t_max=5, normalize=True)``.
    n_permutations : int, default=999
        Number of random exchanges; the least p-value is 1 / (n_permutations + 1).
    n_blocks : int or None, default=None
        For millions of graphs: both collections are divided at random into this number of blocks (10 or
        more), the statistic is the mean of those of the blocks, and its p-value that of a t-test [2]_: no
        permutations. Less sensitive than permutations, in time that does not depend on them.
    random_state : int, RandomState or None, default=0
        Seed of the permutations or blocks, and of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Returns
    -------
    Comparison
        With attributes ``statistic``, ``p_value`` and ``witness``.

    See Also
    --------
    similar_because : In what two graphs agree.
    NoveltyDetector : Single graphs unlike a collection.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf and A. Smola (2012). A kernel two-sample
       test. Journal of Machine Learning Research 13, 723-773.
    .. [2] W. Zaremba, A. Gretton and M. Blaschko (2013). B-tests: low variance kernel two-sample tests.
       NeurIPS.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> same = pk.compare(data.graphs[:50], data.graphs[50:], n_permutations=99)
    >>> bool(same.p_value > 0.01)
    True
    >>> bool(abs(same.witness.contributions.sum() - same.statistic) < 1e-9)
    True
    """
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    first, second = check_graphs(A), check_graphs(B)
    sizes = len(first), len(second)
    if min(sizes) < 2:
        raise ValueError(f"two graphs are needed in each collection, got {sizes[0]} and {sizes[1]}")
    if n_blocks is not None:
        check_integer(n_blocks, "n_blocks", 10, min(sizes) // 2)
    seed = draw_seed(random_state)
    chosen = counting_kernel(kernel, seed)
    return compare_samples(first, second, chosen, n_permutations, seed, n_jobs, n_blocks)


def counting_kernel(kernel: Estimator | None, seed: int) -> Any:
    """Return a copy of a kernel that counts; None: the default of :func:`compare`."""
    default = PropagationKernel(t_max=DEFAULT_T_MAX, normalize=True, random_state=seed)
    chosen = default if kernel is None else clone(kernel)
    check_counting(chosen)
    return chosen


def joined(collections: Sequence[GraphDatabase]) -> GraphDatabase:
    """Return the graphs of several collections, one after the other."""
    if len({type(own) for own in collections}) > 1:
        return check_graphs([graph for own in collections for graph in own])
    return collections[0].concat(collections)


def compare_samples(
    first: GraphDatabase,
    second: GraphDatabase,
    kernel: Any,
    n_permutations: int,
    seed: int,
    n_jobs: int | None,
    n_blocks: int | None = None,
) -> Comparison:
    """Return the result of :func:`compare` for checked graphs, by a kernel that is fitted to all of them.

    The mean over pairs of a collection of one graph, which has none, is 0.
    """
    graphs, sizes = joined([first, second]), (len(first), len(second))
    fitted: Any = kernel.fit(graphs)
    streams = list(fitted._training_counts)
    features, places = shared_features(streams, bool(getattr(kernel, "normalize", False)))
    about = (streams, fitted._counter, graphs, sizes[0])
    if n_blocks is not None:
        contributions, blocks = block_contributions(features, sizes[0], n_blocks, seed)
        p_value = p_value_of_blocks(blocks)
        witness = _witness(features, places, contributions, *about)
        return Comparison(math.fsum(contributions), p_value, witness, np.empty(0), sizes, blocks)
    contributions = contributions_of(features, sizes[0])
    permuted = permuted_statistics(features, sizes[0], n_permutations, seed, n_jobs)
    statistic = math.fsum(contributions)
    witness = _witness(features, places, contributions, *about)
    return Comparison(statistic, share_above(permuted, statistic, features), witness, permuted, sizes)


def share_above(permuted: Values, statistic: float, features: csr_array) -> float:
    """Return the p-value of a statistic: the share of exchanges, with itself, that reach it.

    Rounding errors are those of squared lengths of rows of features.
    """
    scale = float(self_products(features).mean()) if features.shape[0] else 0.0
    above = int(np.count_nonzero(permuted >= statistic - 1e-12 * max(abs(statistic), scale)))
    return (1 + above) / (1 + len(permuted))


def p_value_of_blocks(blocks: Values) -> float:
    """Return the p-value of a t-test that the mean of blocks is above 0; 1 if all blocks are 0."""
    p_value = float(ttest_1samp(blocks, 0.0, alternative="greater").pvalue) if np.ptp(blocks) > 0 else np.nan
    return float(not blocks.mean() > 0) if math.isnan(p_value) else p_value


def block_contributions(features: csr_array, n_first: int, n_blocks: int, seed: int) -> tuple[Values, Values]:
    """Return the mean contribution of each feature over blocks of graphs, and the statistic of each block."""
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(n_first), n_first + rng.permutation(features.shape[0] - n_first)]
    total, statistics = np.zeros(features.shape[1]), np.empty(n_blocks)
    pairs = zip(*(np.array_split(part, n_blocks) for part in parts), strict=True)
    for number, (first, second) in enumerate(pairs):
        own = contributions_of(features[np.concatenate([first, second])], len(first))
        total += own
        statistics[number] = math.fsum(own)
    return total / n_blocks, statistics


def shared_features(streams: list[StreamCounts], normalize: bool) -> tuple[csr_array, NDArray[np.int64]]:
    """Return features whose dot product is the kernel, and the stream and column of each.

    Bins of one graph are left out: they contribute 0 to every statistic.
    """
    lengths = np.sum([stream.weight * self_products(stream.counts) for stream in streams], axis=0)
    scale = inverse_length(lengths) if normalize else np.ones(len(lengths))
    blocks, places = [], []
    for number, stream in enumerate(streams):
        n_graphs = np.bincount(stream.counts.indices, minlength=stream.counts.shape[1])
        columns = np.flatnonzero(n_graphs > 1)
        blocks.append(stream.counts[:, columns] * math.sqrt(stream.weight))
        places.append(np.column_stack([np.full(len(columns), number), columns]))
    features = csr_array(hstack(blocks, format="csr"), dtype=np.float64)
    features.data *= np.repeat(scale, np.diff(features.indptr))
    return features, np.concatenate(places).astype(np.int64)


def contributions_of(features: csr_array, n_first: int) -> Values:
    """Return the contribution of each feature to the unbiased MMD^2 of the first rows and the others."""
    first, second = features[:n_first], features[n_first:]
    m, n = first.shape[0], second.shape[0]
    sums = [np.asarray(part.sum(axis=0)).ravel() for part in (first, second)]
    squares = [np.asarray((part * part).sum(axis=0)).ravel() for part in (first, second)]
    within = (sums[0] ** 2 - squares[0]) / n_pairs(m) + (sums[1] ** 2 - squares[1]) / n_pairs(n)
    found: Values = within - 2 * sums[0] * sums[1] / (m * n)
    return found


def n_pairs(n: int) -> int:
    """Return the number of ordered pairs of n graphs; 1 if there are none, so that an empty sum is 0."""
    return max(n * (n - 1), 1)


def permuted_statistics(
    features: csr_array, n_first: int, n_permutations: int, seed: int, n_jobs: int | None
) -> Values:
    """Return the unbiased MMD^2 of random exchanges of rows, (permutations,).

    With the sum S of the features of all rows, the sum s of those drawn, and z their indicators, all terms
    follow from |s|^2, <s, S> and the sum of squared lengths: one sparse product per block of permutations.
    """
    n_rows, n_columns = features.shape
    check_room(n_permutations, 1, 2, ways_out="use fewer permutations")
    width = max(1, NUMBERS_AT_ONCE // max(n_columns, n_rows, 1))
    seeds = np.random.SeedSequence(seed).spawn(-(-n_permutations // width))
    starts = range(0, n_permutations, width)
    total = np.asarray(features.sum(axis=0)).ravel()
    projected, squares = features @ total, self_products(features)
    transposed = csr_array(features.T)

    def block(start: int) -> Values:
        rng, n_drawn = np.random.default_rng(seeds[start // width]), min(width, n_permutations - start)
        drawn = np.zeros((n_rows, n_drawn))
        for column in range(n_drawn):
            drawn[rng.permutation(n_rows)[:n_first], column] = 1.0
        sums = transposed @ drawn
        length = np.einsum("ij,ij->j", sums, sums)
        return _statistic(
            length, projected @ drawn, squares @ drawn, total @ total, squares.sum(), n_first, n_rows
        )

    return np.concatenate(run_threads(block, list(starts), n_jobs))


def _statistic(
    length: Values, along: Values, own: Values, total: float, all_own: float, m: int, n_rows: int
) -> Values:
    """Return the unbiased MMD^2 from |s|^2, <s, S>, the squares of the drawn rows, |S|^2 and all squares."""
    n = n_rows - m
    first = (length - own) / n_pairs(m)
    second = (total - 2 * along + length - (all_own - own)) / n_pairs(n)
    return first + second - 2 * (along - length) / (m * n)


def _scores(features: csr_array, contributions: Values, n_first: int) -> Values:
    """Return contributions over their standard deviations under exchanges; 0 for constant features."""
    n_rows = features.shape[0]
    means = np.asarray(features.sum(axis=0)).ravel() / n_rows
    squares = np.asarray((features * features).sum(axis=0)).ravel() / n_rows
    variances = squares - means**2
    deviations = math.sqrt(2) * variances * (1 / n_first + 1 / (n_rows - n_first))
    is_constant = variances <= 1e-12 * squares
    return np.divide(contributions, deviations, out=np.zeros(len(means)), where=~is_constant)


def _witness(
    features: csr_array,
    places: NDArray[np.int64],
    contributions: Values,
    streams: list[StreamCounts],
    counter: Counter,
    graphs: GraphDatabase,
    n_first: int,
) -> Witness:
    """Return the witness, bins ordered by score, then by iteration and position."""
    scores = _scores(features, contributions, n_first)
    order = np.argsort(-scores, kind="stable")
    parts = features[:n_first], features[n_first:]
    width = features.shape[1]
    shares = [np.bincount(part.indices, minlength=width) / part.shape[0] for part in parts]
    means = [np.asarray(part.sum(axis=0)).ravel() / part.shape[0] for part in parts]
    iterations = np.array([stream.iteration for stream in streams])[places[:, 0]]
    return Witness(
        contributions[order],
        scores[order],
        iterations[order],
        np.column_stack(shares)[order],
        (means[1] > means[0])[order],
        places[order],
        streams,
        counter,
        graphs,
        n_first,
    )
