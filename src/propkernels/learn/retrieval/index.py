"""GraphIndex: exact nearest neighbors among many graphs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from propkernels.counting.counters import Counter
from propkernels.graphs.adapters.networkx import is_networkx
from propkernels.graphs.check import check_graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grids.database import Grid
from propkernels.kernels.propagation import PropagationKernel
from propkernels.learn.retrieval.inverted_file import InvertedFile
from propkernels.learn.retrieval.search import Query, nearest
from propkernels.utils.checks import GraphInput, check_integer, shown
from propkernels.utils.ids import id_array, is_id, plain_ids
from propkernels.utils.locks import ForkSafeLock
from propkernels.utils.parallel import run_threads
from propkernels.utils.stored import require

if TYPE_CHECKING:
    from propkernels.learn.retrieval.sharded import ShardedIndex


def running_ids(first: int, number: int) -> list[Hashable]:
    """Return numbers from ``first`` on."""
    return list(range(first, first + number))


def check_ids(ids: Iterable[Hashable], n_graphs: int, taken: Collection[Hashable]) -> list[Hashable]:
    """Return one id per graph, all different from each other and from those that are taken.

    Examples
    --------
    >>> check_ids(np.array([4, 7]), 2, [1, 2])
    [4, 7]
    """
    names = plain_ids(ids)
    if len(names) != n_graphs:
        raise ValueError(f"there are {len(names)} ids for {n_graphs} graphs")
    known = set(names)
    if len(known) < len(names) or not known.isdisjoint(taken):  # which looks at those taken one by one
        again = _first_again(names, set(taken))
        raise ValueError(f"ids must be different from each other, but {shown(again)} is there already")
    return names


def _first_again(names: list[Hashable], seen: set[Hashable]) -> Hashable:
    """Return the first id that was seen before."""
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def check_known(ids: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return ids, each once, all of which are known."""
    names = plain_ids(ids)
    for name in names:
        if name not in known:
            raise ValueError(f"{shown(name)} is not in the index")
    return list(dict.fromkeys(names))


def check_counting(kernel: Any) -> None:
    """Refuse a kernel that is not a dot product of counts."""
    is_dot_product = getattr(kernel, "is_dot_product", None)
    if is_dot_product is None:
        raise TypeError(f"kernel must be a kernel of this library that counts, got {shown(kernel)}")
    if not is_dot_product:
        raise ValueError(
            f"an index needs a kernel that is a dot product of counts, which {shown(kernel)} is not"
        )


DEFAULT_T_MAX = 5


class Neighbors(NamedTuple):
    """The most similar graphs, best first: arrays (queries, k), or (k,) for a single graph."""

    similarities: NDArray[np.float64]
    ids: NDArray[Any]


class Contents(NamedTuple):
    """All that an index holds at one moment; nothing in it ever changes.

    ``names`` are the ids of the file's graphs, those that were taken out included.
    """

    counter: Counter
    file: InvertedFile
    names: list[Hashable]
    n_added: int

    def named(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Ids at some places: an integer array where all of them are integers of 64 bits."""
        return id_array([self.names[place] for place in places])

    def places(self) -> dict[Hashable, int]:
        """The place of each graph that is in the index, by its id."""
        return {self.names[place]: place for place in np.flatnonzero(self.file.alive).tolist()}

    def present(self) -> list[Hashable]:
        """Return the ids of the graphs that are in the index."""
        alive = self.file.alive
        return self.names if alive.all() else list(compress(self.names, alive.tolist()))


# Locks are kept beside the indexes, which are copied, pickled and saved without them.
_WRITERS: WeakKeyDictionary[GraphIndex, ForkSafeLock] = WeakKeyDictionary()


class GraphIndex(GraphInput, BaseEstimator):
    """Search among graphs by normalised kernel: exact, without comparing all pairs.

    For each bin the index keeps the graphs that it occurs in. A query only touches the bins of its own
    nodes; adding and taking out graphs does not touch the others, since codes are functions of the
    random state and of the graph alone.

    An index may be used from any number of threads. A query sees the index as it was when the query began;
    :meth:`fit`, :meth:`add` and :meth:`remove` put a changed index into its place at once, one after the
    other.

    Parameters
    ----------
    kernel : estimator or None, default=None
        A kernel of this library that counts: propagation kernels (also on grids, and P2K) and
        Weisfeiler-Lehman with the linear base kernel, label histograms, shortest paths and GraphHopper on
        labels. None: ``PropagationKernel(t_max=5)``. Similarities are normalised whatever it says.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel; a kernel that is given has its own.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    kernel_ : estimator
        The kernel in use.
    ids_ : ndarray
        The graphs in the index, in the order in which they were added.

    See Also
    --------
    PropagationKernel : The default kernel.
    open_index : Opens an index on the disk, which ``GraphIndex.build`` writes: for millions of graphs.
    similar_because : Why two graphs are similar.

    References
    ----------
    .. [1] J. Zobel and A. Moffat (2006). Inverted files for text search engines. ACM Computing Surveys 38
       (2). doi:10.1145/1132956.1132959.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(50, random_state=0).graphs
    >>> index = pk.GraphIndex(random_state=0).fit(graphs[:40])
    >>> similarities, ids = index.query(graphs[3], k=2)
    >>> int(ids[0]), float(similarities[0])
    (3, 1.0)
    >>> index.remove([3]).add(graphs[40:]).ids_.shape
    (49,)
    """

    counter_: Any
    file_: InvertedFile
    kernel_: Any
    n_added_: int
    names_: list[Hashable]

    def __init__(self, *, kernel: Any = None, random_state: Any = None, n_jobs: int | None = None) -> None:
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, ids: Iterable[Hashable] | None = None) -> Self:
        """Index graphs, in place of what was indexed before.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`. What a kernel learns in fit (how attributes are
            standardised, say) is learned from these.
        ids : iterable, optional
            What the graphs are called; 0, 1, 2, ... by default. An id is a number other than NaN (of up to
            4,000 digits), text, bytes, a date, a UUID, None, or a tuple of these.

        Returns
        -------
        self
        """
        graphs = check_graphs(X)
        names = running_ids(0, len(graphs)) if ids is None else check_ids(ids, len(graphs), ())
        default = PropagationKernel(t_max=DEFAULT_T_MAX, random_state=self.random_state)
        kernel = default if self.kernel is None else clone(self.kernel)
        check_counting(kernel)
        fitted = clone(kernel).fit(graphs)
        file = InvertedFile.of(fitted.training_counts_)
        with self._writing():
            self._replace(Contents(fitted.counter_, file, names, len(graphs)), kernel_=kernel)
        return self

    def add(self, X: Any, ids: Iterable[Hashable] | None = None) -> Self:
        """Index further graphs; nothing is learned from them.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        ids : iterable, optional
            What they are called, as in :meth:`fit`; by default numbers go on from the number of graphs ever
            added.
        """
        check_is_fitted(self, "file_")
        graphs = check_graphs(X)
        with self._writing():
            now = self._contents()
            fresh = running_ids(now.n_added, len(graphs)) if ids is None else ids
            names = check_ids(fresh, len(graphs), now.present())
            counter = now.counter.extend(graphs)
            file = now.file.append(counter.count(graphs, None, self.n_jobs))
            self._replace(Contents(counter, file, [*now.names, *names], now.n_added + len(graphs)))
        return self

    def remove(self, ids: Iterable[Hashable]) -> Self:
        """Take graphs out.

        Parameters
        ----------
        ids : iterable
            As given to, or by, :meth:`fit` and :meth:`add`.

        Raises
        ------
        ValueError
            If one is not in the index; then none is taken out.
        """
        check_is_fitted(self, "file_")
        with self._writing():
            now = self._contents()
            places = now.places()
            chosen = np.array([places[name] for name in check_known(ids, places)], dtype=np.int64)
            file, renumbered = now.file.drop(chosen)
            names = now.names
            if renumbered:
                names = [name for name, place in places.items() if place not in set(chosen.tolist())]
            self._replace(now._replace(file=file, names=names))
        return self

    @staticmethod
    def build(
        plan: Any,
        out: Any,
        *,
        kernel: Any = None,
        random_state: Any = None,
        executor: Any = None,
        n_jobs: int | None = None,
    ) -> ShardedIndex:
        """Index graphs in files, on the disk: one shard per part of a plan, mapped into memory by queries.

        The file is the checkpoint: building again goes on where it was stopped.

        Parameters
        ----------
        plan : Plan, or what :func:`partition` takes
        out : str or path
            Folder to write into.
        kernel : estimator or None, default=None
            A kernel that counts each graph by itself: PropagationKernel without attributes, WeisfeilerLehman,
            ShortestPath or LabelHistogram, with a number as ``random_state``. None:
            ``PropagationKernel(t_max=5)``.
        random_state : int
            Seed of the default kernel.
        executor : optional
            As in :func:`featurize`: None (threads), a number of processes, an executor, a Dask client.
        n_jobs : int or None, default=None
            Threads.

        Returns
        -------
        ShardedIndex
        """
        from propkernels.learn.retrieval.sharded import build_index

        return build_index(plan, out, kernel, random_state, executor, n_jobs)

    @staticmethod
    def open(folder: Any, n_jobs: int | None = None) -> ShardedIndex:
        """Open an index on the disk; see :func:`open_index`.

        Parameters
        ----------
        folder : str or path
        n_jobs : int or None, default=None
            Threads.
        """
        from propkernels.learn.retrieval.sharded import open_index

        return open_index(folder, n_jobs)

    def query(self, X: Any, k: int = 10) -> Neighbors:
        """Return the graphs in the index that are most similar to each of the given ones.

        Parameters
        ----------
        X : GraphDatabase, sequence of graphs, or one graph
            One graph is one taken from a database, or a networkx graph.
        k : int, default=10
            How many; all that there are, where there are fewer.

        Returns
        -------
        similarities : ndarray of shape (queries, k), or (k,) for one graph
            Normalised kernel, 1 for equal counts, largest first.
        ids : ndarray of the same shape
            Among equally similar graphs, the one that was added first comes first.
        """
        check_is_fitted(self, "file_")
        now = self._contents()
        k = min(check_integer(k, "k", 1), int(now.file.alive.sum()))
        is_one = isinstance(X, (Graph, Grid)) or is_networkx(X)
        graphs = check_graphs([X] if is_one else X)
        places, similarities = self._best(now, graphs, k)
        names = now.named(places.ravel()).reshape(places.shape)
        return Neighbors(similarities[0], names[0]) if is_one else Neighbors(similarities, names)

    def _best(
        self, now: Contents, graphs: GraphDatabase, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        queries = Query.all(now.counter.count(graphs, None, self.n_jobs))
        found = run_threads(lambda query: nearest(now.file.searches(query), k, 1), queries, self.n_jobs)
        similarities, places = zip(*found, strict=True)
        return np.array(places), np.array(similarities)

    @property
    def ids_(self) -> NDArray[Any]:
        """The graphs in the index, in the order in which they were added."""
        return id_array(self._contents().present())

    def __len__(self) -> int:
        return int(self._contents().file.alive.sum()) if hasattr(self, "file_") else 0

    # one moment after the other

    def _contents(self) -> Contents:
        """The index as it is now: later changes replace its parts, and do not touch them."""
        state = self.__getstate__()
        return Contents(*(state[f"{name}_"] for name in Contents._fields))

    def _replace(self, contents: Contents, **others: Any) -> None:
        """Put other contents into the place of these, at once."""
        now = {f"{name}_": part for name, part in contents._asdict().items()} | others
        before = self.__getstate__()  # kept until the end: the update deletes no object, which might run code
        self.__dict__.update(now)
        del before

    def __getstate__(self) -> dict[str, Any]:
        """All attributes at one moment, for copies, pickles and queries.

        Attributes are copied by one call, and replaced by one: other threads and forked processes see all of
        a change, or nothing of it.
        """
        return dict(vars(self))

    def _writing(self) -> ForkSafeLock:
        """Whoever changes the index holds this lock from reading what it replaces to replacing it."""
        return _WRITERS.setdefault(self, ForkSafeLock())

    def check_parts(self) -> None:
        """Refuse names that are not those of the graphs."""
        if hasattr(self, "file_"):
            require(self.counter_ is None or isinstance(self.counter_, Counter), "something must count")
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            require(all(map(is_id, self.names_)), "ids are plain values, or tuples of them")
            require(len(self.names_) == len(self.file_.alive), "every graph needs an id")
