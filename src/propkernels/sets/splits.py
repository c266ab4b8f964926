"""SimilarityGroupKFold and SimilaritySplit: no test graph is similar to a training graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from propkernels._utils.checks import check_integer, check_share
from propkernels._utils.parallel import threaded
from propkernels._utils.typing import Array
from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.search.index import GraphIndex
from propkernels.sets.clusters import SearchParameters, later_neighbors

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def similar_groups(index: GraphIndex, graphs: GraphDatabase, at_least: float) -> NDArray[np.int64]:
    """Return one group number per graph, equal for graphs that are connected by chains of similar graphs."""
    first = np.arange(len(graphs))  # of the graphs of a group
    for graph, near in later_neighbors(index, graphs, at_least):
        joined = np.unique(first[np.append(near, graph)])
        if len(joined) > 1:
            first[np.isin(first, joined)] = joined[0]
    return np.unique(first, return_inverse=True)[1].astype(np.int64)


@dataclass(kw_only=True, eq=False)
class _SimilaritySplitter(SearchParameters):
    """Splitter by groups of similar graphs."""

    n_splits: int = field(default=5, kw_only=False)
    threshold: float = 0.6

    @threaded
    def groups(self, X: Graphs) -> NDArray[np.int64]:
        """Return one group number per graph; graphs of different groups are less similar than the threshold.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        ndarray of int64, (graphs,)
        """
        graphs = check_graphs(X)
        return similar_groups(self._index(graphs), graphs, check_share(self.threshold, "threshold"))

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : ignored
        """
        return check_integer(self.n_splits, "n_splits", 1)

    def _check_groups(self, groups: NDArray[np.int64], needed: int) -> None:
        n_groups = len(np.unique(groups))
        if n_groups < needed:
            raise ValueError(
                f"{len(groups)} graphs form {n_groups} groups of similarity {self.threshold} or more, and "
                f"{needed} are needed: raise threshold, or split into fewer parts"
            )


@dataclass(kw_only=True, eq=False)
class SimilarityGroupKFold(_SimilaritySplitter):
    """K folds of graphs: no graph of a fold is as similar as a threshold to a graph of another fold.

    Graphs that chains of similar graphs connect form a group, and stay in one fold; folds have about equal
    numbers of graphs. A splitter of scikit-learn: pass it as ``cv``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    threshold : float, default=0.6
        Every similarity between a test and a training graph is below it.
    kernel : estimator, str or None, default=None
        As in :class:`GraphIndex`.
    similarity : {"jaccard", "cosine", "tanimoto", "intersection"}, default="jaccard"
        As in :class:`GraphIndex`.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    See Also
    --------
    SimilaritySplit : Random splits into training and test graphs.
    SphereExclusion : Clusters.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> folds = pk.sets.SimilarityGroupKFold(n_splits=3, threshold=0.8, random_state=0)
    >>> [len(test) for _, test in folds.split(graphs)]
    [20, 20, 20]
    """

    def split(self, X: Graphs, y: object = None, groups: object = None) -> Iterator[Fold]:
        """Yield training and test positions of each fold.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of int64
        """
        n_splits, found = check_integer(self.n_splits, "n_splits", 2), self.groups(X)
        self._check_groups(found, n_splits)
        yield from GroupKFold(n_splits).split(found, groups=found)


@dataclass(kw_only=True, eq=False)
class SimilaritySplit(_SimilaritySplitter):
    """Random splits of graphs: no test graph is as similar as a threshold to a training graph.

    Groups of similar graphs, as in :class:`SimilarityGroupKFold`, are drawn into the test set as a whole. A
    splitter of scikit-learn: pass it as ``cv``.

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits.
    test_size : float, default=0.2
        Share of groups in the test set.
    threshold, kernel, similarity, n_jobs
        As in :class:`SimilarityGroupKFold`.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel and of the splits.

    See Also
    --------
    propkernels.sets.SimilarityGroupKFold : Folds, each the test set once.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> train, test = next(pk.SimilaritySplit(threshold=0.8, random_state=0).split(graphs))
    >>> len(train) + len(test)
    60
    """

    n_splits: int = field(default=1, kw_only=False)
    test_size: float = 0.2

    def split(self, X: Graphs, y: object = None, groups: object = None) -> Iterator[Fold]:
        """Yield training and test positions of each split.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of int64
        """
        found: Array = self.groups(X)
        self._check_groups(found, 2)
        size = check_share(self.test_size, "test_size")
        draws = GroupShuffleSplit(self.get_n_splits(), test_size=size, random_state=self.random_state)
        yield from draws.split(found, groups=found)
