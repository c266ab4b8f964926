"""GraphIndex: exact nearest neighbors among many graphs, in memory or on disk."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_integer, shown
from propkernels._utils.ids import id_array, is_id, plain_ids
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.stored import require
from propkernels.convert.check import check_graphs
from propkernels.convert.networkx import is_networkx
from propkernels.counting.counters import Counter
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.scale.pure import rebuilt
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Neighbors, Query
from propkernels.search.shard_folder import (
    Group,
    PureCounter,
    ShardFolder,
    build_folder,
    counting_kernel,
)


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


class Contents(NamedTuple):
    """All that an index holds at one moment; nothing in it ever changes.

    ``names`` are the ids of the file's graphs, those that were removed included; on disk they are numbers.
    """

    file: InvertedFile | ShardFolder
    counter: Counter
    names: Sequence[Hashable]
    n_added: int

    @classmethod
    def on_disk(cls, file: ShardFolder) -> Contents:
        """Return the contents of a folder."""
        return cls(file, PureCounter(file.parameters), range(file.n_rows), file.n_rows)

    def named(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Return ids at some places: an integer array where all of them are integers of 64 bits."""
        return id_array([self.names[place] for place in places])

    def places(self) -> dict[Hashable, int]:
        """Return the place of each graph that is in the index, by its id."""
        return {self.names[place]: place for place in self.file.places().tolist()}

    def present(self) -> Sequence[Hashable]:
        """Return the ids of the graphs that are in the index."""
        is_whole = len(self.file) == len(self.names)
        return self.names if is_whole else [self.names[place] for place in self.file.places().tolist()]


# Locks are kept beside the indexes, which are copied, pickled and saved without them.
_WRITERS: WeakKeyDictionary[GraphIndex, ForkSafeLock] = WeakKeyDictionary()


class GraphIndex(GraphInput, BaseEstimator):
    """Search among graphs by normalized kernel: exact, without comparing all pairs.

    For each bin the index keeps the graphs that it occurs in. A query only touches the bins of its own
    nodes; adding and removing graphs does not touch the others, since codes are functions of the
    random state and of the graph alone.

    An index is in memory (:meth:`fit`), or in a folder for millions of graphs in files (:meth:`build`,
    :meth:`open`): then the file is mapped into memory, a query reads the postings of its own bins and nothing
    else, and answers are the same to the bit.

    An index may be used from any number of threads. A query sees the index as it was when the query began;
    :meth:`fit`, :meth:`add` and :meth:`remove` put a changed index into its place at once, one after the
    other.

    Parameters
    ----------
    kernel : estimator or None, default=None
        A kernel of this library that counts: propagation kernels (also on grids, and P2K) and
        Weisfeiler-Lehman with the linear base kernel, label histograms, shortest paths and GraphHopper on
        labels. None: ``PropagationKernel(t_max=5)``. Similarities are normalized whatever it says.
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
    partition : Plans how graphs in files are cut into parts, for an index on disk.
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

    On disk, one shard per part of a plan:

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> graphs.to_parquet(f"{folder.name}/graphs.parquet", row_group_size=10)
    >>> plan = pk.partition(f"{folder.name}/graphs.parquet", nodes_per_part=600)
    >>> _ = pk.GraphIndex.build(plan, f"{folder.name}/index", random_state=0)
    >>> index = pk.GraphIndex.open(f"{folder.name}/index")
    >>> index
    GraphIndex(50 graphs, 3 shards)
    >>> index.query(graphs[3], k=2).ids[0]
    np.int64(3)
    >>> del index
    >>> folder.cleanup()
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
            standardized, say) is learned from these.
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
            self._replace(Contents(file, fitted.counter_, names, len(graphs)), kernel_=kernel)
        return self

    def add(self, X: Any, ids: Iterable[Hashable] | None = None, *, executor: Any = None) -> Self:
        """Index further graphs; nothing is learned from them.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            For an index on disk: a :class:`~propkernels.scale.Plan`, or what :func:`partition` takes. Its
            shards are built behind the others; a plan that is in the index already is completed, and not
            added again.
        ids : iterable, optional
            What they are called, as in :meth:`fit`; by default numbers go on from the number of graphs ever
            added. On disk, graphs have these numbers and no other ids.
        executor : optional
            For an index on disk, as in :func:`featurize`.

        Returns
        -------
        self
        """
        check_is_fitted(self, "file_")
        with self._writing():
            now = self._contents()
            if isinstance(now.file, ShardFolder):
                if ids is not None:
                    raise ValueError("graphs of an index on disk are numbered: leave ids out")
                added = Contents.on_disk(now.file.add(X, executor, self.n_jobs))
            else:
                if executor is not None:
                    raise ValueError("an executor indexes files, for an index on disk: leave it out")
                added = self._added(now, now.file, check_graphs(X), ids)
            self._replace(added)
        return self

    def _added(
        self, now: Contents, file: InvertedFile, graphs: GraphDatabase, ids: Iterable[Hashable] | None
    ) -> Contents:
        """Return contents with further graphs."""
        fresh = running_ids(now.n_added, len(graphs)) if ids is None else ids
        names = check_ids(fresh, len(graphs), now.present())
        counter = now.counter.extend(graphs)
        longer = file.append(counter.count(graphs, None, self.n_jobs))
        return Contents(longer, counter, [*now.names, *names], now.n_added + len(graphs))

    def remove(self, ids: Iterable[Hashable]) -> Self:
        """Remove graphs from an index in memory.

        Parameters
        ----------
        ids : iterable
            As given to, or by, :meth:`fit` and :meth:`add`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If one is not in the index, and then none is removed; or if the index is on disk.
        """
        check_is_fitted(self, "file_")
        with self._writing():
            now = self._contents()
            if isinstance(now.file, ShardFolder):
                raise ValueError("graphs of an index on disk cannot be removed: build one without them")
            places = now.places()
            chosen = np.array([places[name] for name in check_known(ids, places)], dtype=np.int64)
            file, renumbered = now.file.drop(chosen)
            names = now.names
            if renumbered:
                names = [name for name, place in places.items() if place not in set(chosen.tolist())]
            self._replace(now._replace(file=file, names=names))
        return self

    @classmethod
    def build(
        cls,
        plan: Any,
        out: Any,
        *,
        kernel: Any = None,
        random_state: Any = None,
        executor: Any = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Index graphs in files on disk, one shard per part of a plan, and open the index.

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
        GraphIndex
        """
        if kernel is None:
            kernel = PropagationKernel(t_max=DEFAULT_T_MAX, random_state=random_state)
        return cls._on_disk(build_folder(plan, out, kernel, executor, n_jobs), n_jobs)

    @classmethod
    def open(cls, folder: Any, n_jobs: int | None = None) -> Self:
        """Open an index on disk, which :meth:`build` wrote; shards are mapped when they are needed.

        Parameters
        ----------
        folder : str or path
        n_jobs : int or None, default=None
            Threads of a query, which take shards in turn; None is one, -1 all cores.

        Returns
        -------
        GraphIndex

        Raises
        ------
        ValueError
            If shards are missing, or files do not have the size that the manifest says.
        """
        return cls._on_disk(ShardFolder(folder), n_jobs)

    @classmethod
    def _on_disk(cls, file: ShardFolder, n_jobs: int | None) -> Self:
        kernel = counting_kernel(rebuilt(file.parameters))
        index = cls(kernel=kernel, n_jobs=n_jobs)
        index._replace(Contents.on_disk(file), kernel_=kernel)
        return index

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
            Normalized kernel, 1 for equal counts, largest first.
        ids : ndarray of the same shape
            On disk, numbers of graphs in their plan, those of later plans behind those of earlier ones. Among
            equally similar graphs, the one that was added first comes first.
        """
        check_is_fitted(self, "file_")
        now = self._contents()
        k = min(check_integer(k, "k", 1), len(now.file))
        is_one = isinstance(X, (Graph, Grid)) or is_networkx(X)
        graphs = check_graphs([X] if is_one else X)
        queries = Query.all(now.counter.count(graphs, None, self.n_jobs))
        found = now.file.nearest(queries, k, self.n_jobs)
        similarities = np.array([values for values, _ in found]).reshape(len(graphs), k)
        places = np.array([own for _, own in found], dtype=np.int64).reshape(len(graphs), k)
        names = now.named(places.ravel()).reshape(places.shape)
        return Neighbors(similarities[0], names[0]) if is_one else Neighbors(similarities, names)

    def graph(self, number: int) -> Graph:
        """Return a graph of an index on disk, read from the file that it was in when the plan was made.

        Parameters
        ----------
        number : int
            As :meth:`query` gives it.
        """
        found: Graph = self._folder().graph(number)
        return found

    @property
    def groups(self) -> list[Group]:
        """The shards of an index on disk, plan by plan."""
        return self._folder().groups

    @property
    def parameters(self) -> dict[str, Any]:
        """Class and parameters of what counts in an index on disk, and the version that built it."""
        return self._folder().parameters

    @property
    def n_shards(self) -> int:
        """Number of shards of an index on disk."""
        return len(self._folder().shards)

    def _folder(self) -> ShardFolder:
        file = vars(self).get("file_")
        if not isinstance(file, ShardFolder):
            raise AttributeError(
                "an index in memory has counts and no files of graphs: GraphIndex.build writes one on disk"
            )
        return file

    @property
    def ids_(self) -> NDArray[Any]:
        """The graphs in the index, in the order in which they were added."""
        return id_array(self._contents().present())

    def __len__(self) -> int:
        return len(self._contents().file) if hasattr(self, "file_") else 0

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not isinstance(vars(self).get("file_"), ShardFolder):
            return str(super().__repr__(N_CHAR_MAX))
        shards = "1 shard" if self.n_shards == 1 else f"{self.n_shards:,} shards"
        return f"GraphIndex({len(self):,} graphs, {shards})"

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
