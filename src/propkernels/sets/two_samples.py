"""two_sample_test: whether two collections of graphs have one distribution, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import clone

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_integer, format_number, format_table
from propkernels._utils.optional import data_frame
from propkernels._utils.parallel import run_threads, threaded
from propkernels._utils.randomness import draw_seed
from propkernels._utils.typing import Estimator, Seed
from propkernels.convert.check import check_graphs
from propkernels.counts.bins import bin_text
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.products import inverse_length, self_products
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.neighborhoods import named_kernel
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.search.index import DEFAULT_T_MAX, check_counting

if TYPE_CHECKING:
    from pandas import DataFrame

Values = NDArray[np.float64]
NUMBERS_AT_ONCE = 2**24  # sums of features in memory at a time, over bins and permutations
ROUNDING = 1e-12  # of the largest k(x, x); statistics that differ by less are equal


@dataclass(frozen=True, eq=False)
class Difference:
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
    """The bins in which two collections differ, the surest first: a sequence of Difference.

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

    def __getitem__(self, number: int) -> Difference:
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} bins, not {number}")
        stream, column = self._places[number].tolist()
        is_b = bool(self._more_in_b[number])
        counts = self._streams[stream].counts  # the example is the first graph of its collection with the bin
        first, last = (self._n_first, counts.shape[0]) if is_b else (0, self._n_first)
        found = np.flatnonzero(counts.indices[counts.indptr[first] : counts.indptr[last]] == column)
        graph = int(np.searchsorted(counts.indptr, counts.indptr[first] + found[0], side="right")) - 1
        nodes, labels = self._nodes(graph, stream, int(self._streams[stream].codes[column]))
        share_a, share_b = self.shares[number].tolist()
        place = graph - is_b * self._n_first
        t, contribution = int(self.iterations[number]), float(self.contributions[number])
        return Difference(t, contribution, "AB"[is_b], share_a, share_b, place, nodes, labels)

    def __iter__(self) -> Iterator[Difference]:
        return (self[i] for i in range(len(self)))

    def _nodes(self, graph: int, stream: int, code: int) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
        """Return the nodes of a bin in a graph, and their labels."""
        alone = self._graphs[np.array([graph])]
        items = next(islice(self._counter.occurrences(alone), stream, None))
        found = np.flatnonzero(items.codes == code)
        nodes = found if items.nodes is None else items.nodes[found]
        nodes = nodes[:, 0] if nodes.ndim == 2 and nodes.shape[1] == 1 else nodes
        column = alone.label_column
        if not isinstance(column, LabelColumn):
            return nodes, ()
        known = np.unique(column.ids[nodes.ravel()])
        return nodes, tuple(column.values[i] for i in known.tolist() if i >= 0)

    def _graph_of(self, one: Difference) -> GraphDatabase:
        """Return the example of a bin."""
        return self._graphs[[one.graph + (one.more_in == "B") * self._n_first]]

    def to_frame(self, n: int | None = None) -> DataFrame:
        """Return a pandas DataFrame with one row per bin, of the first n."""
        return data_frame([vars(self[i]) for i in range(len(self) if n is None else min(n, len(self)))])

    def rows(self, n: int = 10) -> list[list[str]]:
        """Return the texts of a table of the first n bins, its head first: labels by name, or SMARTS."""
        column = "labels" if getattr(self._graphs, "sources", None) is None else "smarts"
        return [["t", "adds", "more in", "of A", "of B", column, "graph"]] + [
            [
                str(one.t),
                format_number(one.contribution),
                one.more_in,
                f"{100 * one.share_a:.1f} %",
                f"{100 * one.share_b:.1f} %",
                bin_text(self._graph_of(one), one.nodes, one.t, one.labels),
                str(one.graph),
            ]
            for one in (self[i] for i in range(min(n, len(self))))
        ]

    def __repr__(self) -> str:
        return f"Witness({len(self):,} bins)"


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleTest:
    """Result of :func:`propkernels.two_sample_test`.

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
        Statistics after random exchanges of graphs.
    sizes : (int, int)
        Numbers of graphs.
    """

    statistic: float
    p_value: float
    witness: Witness
    permuted: Values
    sizes: tuple[int, int]

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Table, show_result

        head, *rows = self.witness.rows()
        return show_result(self._sentence, Table(head, rows))

    def __repr__(self) -> str:
        return (
            f"TwoSampleTest(statistic={self.statistic:.6g}, p_value={self.p_value:.4g}, sizes={self.sizes})"
        )

    def __str__(self) -> str:
        head, *rows = self.witness.rows()
        return f"{self._sentence}\n{format_table(head, rows, left=('more in', 'labels', 'smarts'))}"

    @property
    def _sentence(self) -> str:
        return (
            f"MMD^2 = {self.statistic:.6g} between {self.sizes[0]:,} and {self.sizes[1]:,} graphs, "
            f"p = {self.p_value:.4g} ({len(self.permuted):,} permutations)"
        )


@threaded
def two_sample_test(
    A: Graphs,
    B: Graphs,
    *,
    kernel: Estimator | str | None = None,
    n_permutations: int = 999,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> TwoSampleTest:
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
    kernel : estimator, str or None, default=None
        A dot product of counts, as in :class:`GraphIndex`; None:
        ``PropagationKernel(t_max=5, normalize=True)``.
    n_permutations : int, default=999
        Number of random exchanges; the least p-value is 1 / (n_permutations + 1).
    random_state : int, RandomState or None, default=0
        Seed of the permutations, and of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Returns
    -------
    TwoSampleTest
        With attributes ``statistic``, ``p_value`` and ``witness``.

    See Also
    --------
    propkernels.plotting.plot_two_sample_test : Draws the statistic among those of exchanges.
    similar_because : In what two graphs agree.
    NoveltyDetector : Single graphs unlike a collection.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf and A. Smola (2012). A kernel two-sample
       test. Journal of Machine Learning Research 13, 723-773.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> same = pk.two_sample_test(data.graphs[:50], data.graphs[50:], n_permutations=99)
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
    seed = draw_seed(random_state)
    default = PropagationKernel(t_max=DEFAULT_T_MAX, normalize=True, random_state=seed)
    chosen: Any = default if kernel is None else clone(named_kernel(kernel, random_state=seed))
    check_counting(chosen)
    graphs = first.concat([first, second]) if type(first) is type(second) else check_graphs([*first, *second])
    fitted = chosen.fit(graphs)
    streams = list(fitted._training_counts)
    features, places = shared_features(streams, bool(getattr(chosen, "normalize", False)))
    contributions = contributions_of(features, sizes[0])
    observed, permuted = exchanged_statistics(features, sizes[0], n_permutations, seed)
    at_least = observed - ROUNDING * float(self_products(features).max())
    p_value = (1 + int(np.count_nonzero(permuted >= at_least))) / (1 + n_permutations)
    witness = _witness(features, places, contributions, streams, fitted._counter, graphs, sizes[0])
    return TwoSampleTest(math.fsum(contributions), p_value, witness, permuted, sizes)


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
    within = (sums[0] ** 2 - squares[0]) / (m * (m - 1)) + (sums[1] ** 2 - squares[1]) / (n * (n - 1))
    found: Values = within - 2 * sums[0] * sums[1] / (m * n)
    return found


def exchanged_statistics(
    features: csr_array, n_first: int, n_permutations: int, seed: int
) -> tuple[float, Values]:
    """Return the unbiased MMD^2 of the rows as they are, and of random exchanges of rows.

    With the sum S of the features of all rows, the sum s of those of the smaller collection, and its
    indicators z, all terms follow from |s|^2, <s, S> and the sum of squared lengths: one sparse product per
    block of permutations. No term exceeds a few times the largest squared length, and rounding errors are
    small beside it; with s of the larger collection, terms of the smaller one would be differences of large
    numbers.
    """
    n_rows, n_columns = features.shape
    check_room(n_permutations, 1, 2, ways_out="use fewer permutations")
    width = max(1, NUMBERS_AT_ONCE // max(n_columns, n_rows, 1))
    seeds = np.random.SeedSequence(seed).spawn(-(-n_permutations // width))
    m = min(n_first, n_rows - n_first)
    n = n_rows - m
    smaller = slice(0, m) if m == n_first else slice(n_first, None)
    total = np.asarray(features.sum(axis=0)).ravel()
    projected, squares = features @ total, self_products(features)
    transposed = csr_array(features.T)

    def statistics(orders: Iterable[NDArray[np.int64]], n_drawn: int) -> Values:
        drawn = np.zeros((n_rows, n_drawn))
        for column, order in enumerate(orders):
            drawn[order[smaller], column] = 1.0
        sums = transposed @ drawn
        length, along, own = np.einsum("ij,ij->j", sums, sums), projected @ drawn, squares @ drawn
        within = (length - own) / (m * (m - 1))
        others = (total @ total - 2 * along + length - (squares.sum() - own)) / (n * (n - 1))
        found: Values = within + others - 2 * (along - length) / (m * n)
        return found

    def block(start: int) -> Values:
        rng, n_drawn = np.random.default_rng(seeds[start // width]), min(width, n_permutations - start)
        return statistics((rng.permutation(n_rows) for _ in range(n_drawn)), n_drawn)

    permuted = run_threads(block, list(range(0, n_permutations, width)))
    return float(statistics([np.arange(n_rows)], 1)[0]), np.concatenate(permuted)


def _witness(
    features: csr_array,
    places: NDArray[np.int64],
    contributions: Values,
    streams: list[StreamCounts],
    counter: Counter,
    graphs: GraphDatabase,
    n_first: int,
) -> Witness:
    """Return the witness, bins ordered by score, then by iteration and position.

    The score is the contribution over its standard deviation under exchanges; 0 for constant features.
    """
    n_rows = features.shape[0]
    squares = np.asarray((features * features).sum(axis=0)).ravel() / n_rows
    variances = squares - (np.asarray(features.sum(axis=0)).ravel() / n_rows) ** 2
    deviations = math.sqrt(2) * variances * (1 / n_first + 1 / (n_rows - n_first))
    varies = variances > 1e-12 * squares
    scores = np.divide(contributions, deviations, out=np.zeros(len(squares)), where=varies)
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
