"""SphereExclusion and MaxMinPicker: clusters and diverse graphs, without a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import offsets
from propkernels._utils.checks import GraphInput, check_integer, check_share
from propkernels._utils.parallel import run_threads, threaded
from propkernels._utils.progress import ProgressBar
from propkernels._utils.stored import ANY_NUMBER, Indices, require
from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.search.index import GraphIndex, IndexParameters
from propkernels.search.nearest import Query

AT_ONCE = 512  # graphs whose neighbors are searched at a time
MOST_PAIRS = 2**27  # pairs of neighbors in memory: 1 GB for both directions
Places = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class SearchParameters(IndexParameters):
    """Parameters of what searches an index: clusters, picks and splits."""

    similarity: str = "jaccard"

    def _index(self, graphs: GraphDatabase) -> GraphIndex:
        """Return an index of graphs."""
        return GraphIndex(
            kernel=self.kernel, similarity=self.similarity, random_state=self.random_state, n_jobs=self.n_jobs
        ).fit(graphs)


@dataclass(kw_only=True, eq=False, repr=False)
class SphereParameters(SearchParameters):
    """Parameters of :class:`SphereExclusion`."""

    threshold: float = 0.6


@dataclass(kw_only=True, eq=False, repr=False)
class PickerParameters(SearchParameters):
    """Parameters of :class:`MaxMinPicker`."""

    n_graphs: int = 10
    first: int = 0


def later_neighbors(
    index: GraphIndex, graphs: GraphDatabase, at_least: float
) -> Iterator[tuple[int, Places]]:
    """Yield the position of each graph of an index, and its neighbors at later positions.

    Every pair of neighbors appears once.
    """
    above = float(np.nextafter(at_least, -1))
    with ProgressBar("Comparing", len(graphs)) as bar:
        for first in range(0, len(graphs), AT_ONCE):
            counts = index._counter.count(graphs[first : first + AT_ONCE], None)
            queries = list(enumerate(Query.all(counts, index._measure), first))
            later = run_threads(lambda item: index._file.later(item[1], item[0], above), queries)
            for (place, _), found in zip(queries, later, strict=True):
                yield place, found
                bar.step()


class Neighborhoods:
    """Numbers of neighbors of all graphs, and the neighbors themselves unless there are too many.

    Parameters
    ----------
    index : GraphIndex
    graphs : GraphDatabase
        The graphs of the index.
    at_least : float
        Similarity of neighbors.
    """

    def __init__(self, index: GraphIndex, graphs: GraphDatabase, at_least: float) -> None:
        self.index, self.graphs, self.at_least = index, graphs, at_least
        # a graph without nodes is not similar to itself
        self.counts = ((index._file.squares > 0) | (at_least == 0)).astype(np.int64)
        pairs, n_pairs = list[NDArray[np.int32]](), 0
        n_later = np.zeros(len(graphs), dtype=np.int64)
        for place, later in later_neighbors(index, graphs, at_least):
            self.counts[place] += len(later)
            self.counts[later] += 1
            n_later[place], n_pairs = len(later), n_pairs + len(later)
            if n_pairs <= MOST_PAIRS:
                pairs.append(later.astype(np.int32))
        self._table: csr_array | None = None
        if n_pairs <= MOST_PAIRS:
            n, later = len(graphs), np.concatenate(pairs)
            after = csr_array((np.ones(len(later), dtype=np.bool_), later, offsets(n_later)), shape=(n, n))
            self._table = csr_array(after + after.T)  # earlier and later neighbors

    def of(self, graph: int) -> Places:
        """Return the neighbors of a graph."""
        if self._table is None:
            found: Places = self.index.query(self.graphs[graph], at_least=self.at_least).ids
            return found
        return self._table.indices[self._table.indptr[graph] : self._table.indptr[graph + 1]]


class SphereExclusion(SphereParameters, GraphInput, ClusterMixin, BaseEstimator):
    """Clusters of graphs within a similarity of a center: the Taylor-Butina algorithm [1]_ [2]_, exactly.

    Graphs are ordered by their number of neighbors, graphs of at least a given similarity. The first graph
    that is in no cluster becomes a center, and its neighbors that are in no cluster become its members.

    Neighbors come from a :class:`GraphIndex`, each pair once. Up to 2^27 pairs are stored; if there are more,
    they are only counted, and centers are searched again: memory is bounded.

    Parameters
    ----------
    threshold : float, default=0.6
        Least similarity of members to the center of their cluster.
    kernel : estimator, str or None, default=None
        As in :class:`GraphIndex`.
    similarity : {"jaccard", "cosine", "tanimoto", "intersection"}, default="jaccard"
        As in :class:`GraphIndex`.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    labels_ : ndarray of int64, (graphs,)
        Cluster of each graph, numbered in the order of the algorithm: the cluster with most neighbors first.
    centers_ : ndarray of int64, (clusters,)
        Position of the center of each cluster.
    n_neighbors_ : ndarray of int64, (graphs,)
        Number of graphs at the threshold or above, the graph itself included; ties go to the first graph.
    index_ : GraphIndex
        The graphs, for :meth:`predict`.

    See Also
    --------
    propkernels.sets.MaxMinPicker : Diverse graphs.
    propkernels.sets.SimilarityGroupKFold : Folds without similar graphs in training and test.

    References
    ----------
    .. [1] R. Taylor (1995). Simulation analysis of experimental design strategies for screening random
       compounds as potential new drugs and agrochemicals. Journal of Chemical Information and Computer
       Sciences 35 (1), 59-67. doi:10.1021/ci00023a009.
    .. [2] D. Butina (1999). Unsupervised data base clustering based on Daylight's fingerprint and Tanimoto
       similarity. Journal of Chemical Information and Computer Sciences 39 (4), 747-750.
       doi:10.1021/ci9803381.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(50, random_state=0).graphs
    >>> clusters = pk.SphereExclusion(threshold=0.3, random_state=0).fit(graphs)
    >>> clusters.labels_.shape, clusters.labels_[clusters.centers_[:3]]
    ((50,), array([0, 1, 2]))
    """

    labels_: Annotated[NDArray[np.int64], Indices("centers_")]
    centers_: Annotated[NDArray[np.int64], Indices("labels_")]
    n_neighbors_: Annotated[NDArray[np.int64], ANY_NUMBER]
    index_: GraphIndex

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Cluster graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        at_least, graphs = check_share(self.threshold, "threshold"), check_graphs(X)
        index = self._index(graphs)
        near = Neighborhoods(index, graphs, at_least)
        labels, centers = np.full(len(graphs), -1, dtype=np.int64), list[int]()
        for center in np.argsort(-near.counts, kind="stable").tolist():
            if labels[center] < 0:
                members = near.of(center) if near.counts[center] > 1 else np.empty(0, dtype=np.int64)
                labels[members[labels[members] < 0]] = len(centers)
                labels[center] = len(centers)
                centers.append(center)
        self.labels_, self.centers_ = labels, np.array(centers, dtype=np.int64)
        self.n_neighbors_, self.index_ = near.counts, index
        return self

    @threaded
    def predict(self, X: Graphs) -> NDArray[np.int64]:
        """Return the cluster of the most similar center within the threshold; -1 if there is none.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        ndarray of int64, (graphs,)
        """
        check_is_fitted(self, "labels_")
        of_center = dict(zip(self.centers_.tolist(), range(len(self.centers_)), strict=True))
        graphs = check_graphs(X)
        firsts = list[int]()
        for first in range(0, len(graphs), AT_ONCE):
            found = self.index_.query(graphs[first : first + AT_ONCE], at_least=float(self.threshold)).ids
            firsts += [next((of_center[i] for i in ids.tolist() if i in of_center), -1) for ids in found]
        return np.array(firsts, dtype=np.int64)

    def _check_parts(self) -> None:
        """Refuse clusters of other graphs than those of the index, and centers of other clusters."""
        if hasattr(self, "labels_"):
            shape = (len(self.index_._names),)
            require(self.labels_.shape == self.n_neighbors_.shape == shape, "every graph needs a cluster")
            number = np.arange(len(self.centers_))
            require(np.array_equal(self.labels_[self.centers_], number), "every cluster needs a center")


class MaxMinPicker(PickerParameters, GraphInput, BaseEstimator):
    """Diverse graphs: each is the least similar to those picked before it [1]_, exactly.

    The similarity of a graph to the picked ones is the largest of all; the graph for which it is smallest
    comes next, the first of equals. One search of an index per pick: no matrix of all pairs.

    Parameters
    ----------
    n_graphs : int, default=10
        Number of graphs to pick; all if there are fewer.
    first : int, default=0
        Position of the first picked graph.
    kernel : estimator, str or None, default=None
        As in :class:`GraphIndex`.
    similarity : {"jaccard", "cosine", "tanimoto", "intersection"}, default="jaccard"
        As in :class:`GraphIndex`.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    indices_ : ndarray of int64, (picked,)
        Positions of the picked graphs, in order.
    similarities_ : ndarray, (picked,)
        Largest similarity of each picked graph to those before it; 0 for the first.

    See Also
    --------
    SphereExclusion : Clusters, whose centers are diverse too.

    References
    ----------
    .. [1] M. Ashton, J. Barnard, F. Casset, M. Charlton, G. Downs, D. Gorse, J. Holliday, R. Lahana and
       P. Willett (2002). Identification of diverse database subsets using property-based and fragment-based
       molecular descriptions. Quantitative Structure-Activity Relationships 21 (6), 598-604.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(50, random_state=0).graphs
    >>> picked = pk.sets.MaxMinPicker(n_graphs=5, random_state=0).fit(graphs).indices_
    >>> len(set(picked.tolist())), len(graphs[picked])
    (5, 5)
    """

    indices_: Annotated[NDArray[np.int64], ANY_NUMBER]
    similarities_: NDArray[np.float64]

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Pick graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        graphs, n_graphs = check_graphs(X), check_integer(self.n_graphs, "n_graphs", 1)
        place = check_integer(self.first, "first", 0, len(graphs) - 1)
        index = self._index(graphs)
        queries = Query.all(index._counter.count(graphs, None), index._measure)
        largest = np.full(len(graphs), 0.0)  # similarity to the picked graphs; infinite for these
        picked, similarities = [], []
        for _ in range(min(n_graphs, len(graphs))):
            picked.append(place)
            similarities.append(largest[place])
            np.maximum(largest, index._file.similarities(queries[place]), out=largest)
            largest[place] = np.inf
            place = int(np.argmin(largest))
        self.indices_, self.similarities_ = np.array(picked, dtype=np.int64), np.array(similarities)
        return self

    def _check_parts(self) -> None:
        """Refuse repeated or negative positions, and positions without a similarity."""
        if hasattr(self, "indices_"):
            different = np.unique(self.indices_)
            require(len(different) == len(self.indices_), "a graph is picked once")
            require((different >= 0).all(), "positions are at least 0")
            require(self.similarities_.shape == self.indices_.shape, "every picked graph needs a similarity")
