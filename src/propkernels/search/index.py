"""GraphIndex: exact nearest neighbors among many graphs, in memory or on disk."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import GraphInput, check_integer, check_share, shown
from propkernels._utils.ids import id_array, is_id, plain_ids
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.stored import require
from propkernels._utils.typing import Array, Estimator, PathLike, Record, Seed
from propkernels.convert.check import check_graphs
from propkernels.convert.networkx import is_networkx
from propkernels.counts.counters import Counter
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.scale.executors import ExecutorLike
from propkernels.scale.plan import Plan
from propkernels.scale.pure import rebuilt
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.measures import COSINE, Measure, measure_of
from propkernels.search.nearest import Neighbors, Query
from propkernels.search.shard_folder import (
    Group,
    PureCounter,
    ShardFolder,
    build_folder,
    counting_kernel,
)


def running_ids(first: int, number: int) -> list[Hashable]:
    """Return ``number`` consecutive ids from ``first`` on."""
    return list(range(first, first + number))


def check_ids(ids: Iterable[Hashable], n_graphs: int, taken: Collection[Hashable]) -> list[Hashable]:
    """Return one id per graph, all distinct and none of them taken.

    Examples
    --------
    >>> check_ids(np.array([4, 7]), 2, [1, 2])
    [4, 7]
    """
    names = plain_ids(ids)
    if len(names) != n_graphs:
        raise ValueError(f"there are {len(names)} ids for {n_graphs} graphs")
    known = set(names)
    if len(known) < len(names) or not known.isdisjoint(
        taken
    ):  # only in case of an error: compares the taken ids one by one
        again = _first_again(names, set(taken))
        raise ValueError(f"ids must be different from each other, but {shown(again)} is already taken")
    return names


def _first_again(names: list[Hashable], seen: set[Hashable]) -> Hashable:
    """Return the first id that occurs among those seen."""
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def check_known(ids: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return ids without repetitions; refuse ids that are not in the index."""
    names = plain_ids(ids)
    for name in names:
        if name not in known:
            raise ValueError(f"{shown(name)} is not in the index")
    return list(dict.fromkeys(names))


def _streams_of(counter: Any) -> int:
    """Return the number of streams that a counter makes; up to eight times as many with attributes."""
    return int(getattr(getattr(counter, "counter", counter), "n_streams", 1))


def check_counting(kernel: Any) -> None:
    """Refuse kernels other than dot products of counts."""
    is_dot_product = getattr(kernel, "_is_dot_product", None)
    if is_dot_product is None:
        raise TypeError(f"kernel must be a kernel of this library that counts codes, got {shown(kernel)}")
    if not is_dot_product:
        raise ValueError(
            f"an index needs a kernel that is a dot product of counts, which {shown(kernel)} is not"
        )


DEFAULT_T_MAX = 5
DEFAULT_K = 10


class Contents(NamedTuple):
    """Immutable contents of an index at one moment.

    ``names`` are the ids of the file's graphs, including removed ones; on disk they are numbers.
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
        """Return the ids at given positions: an integer array if all ids are 64-bit integers."""
        return id_array([self.names[place] for place in places])

    def places(self) -> dict[Hashable, int]:
        """Return a mapping from id to position, for the graphs in the index."""
        return {self.names[place]: place for place in self.file.places().tolist()}

    def present(self) -> Sequence[Hashable]:
        """Return the ids of the graphs in the index."""
        is_whole = len(self.file) == len(self.names)
        return self.names if is_whole else [self.names[place] for place in self.file.places().tolist()]


# Locks are stored outside the indexes, so that these can be copied, pickled and saved.
_WRITERS: WeakKeyDictionary[GraphIndex, ForkSafeLock] = WeakKeyDictionary()


class GraphIndex(GraphInput, BaseEstimator):
    """Exact nearest-neighbor search among graphs by similarity of counts, without comparing all pairs.

    For each bin, the index stores the graphs in which it occurs. A query reads only the bins of its own
    nodes. Adding and removing graphs does not change the others, since codes are functions of the random
    state and of the graph alone.

    An index is in memory (:meth:`fit`) or, for millions of graphs in files, in a folder (:meth:`build`,
    :meth:`open`). Files are mapped into memory, a query reads only the postings of its own bins, and results
    are identical to the bit.

    An index is thread-safe. A query uses the index as of its start; :meth:`fit`, :meth:`add` and
    :meth:`remove` replace the contents atomically, one after the other.

    Parameters
    ----------
    kernel : estimator or None, default=None
        A kernel of this library that counts codes: propagation kernels (also on grids, and P2K) and
        Weisfeiler-Lehman with the linear base kernel, label histograms, shortest paths and GraphHopper on
        labels. None: ``PropagationKernel(t_max=5)``. Similarities are always normalized.
    similarity : {"cosine", "jaccard", "tanimoto", "intersection"}, default="cosine"
        Similarity of two count vectors x and y, over the bins of all iterations, from 0 to 1 (equal counts).
        "cosine": normalized kernel <x, y> / sqrt(<x, x> <y, y>). "jaccard": sum of the smaller over sum of
        the larger counts, which chemists call the Tanimoto similarity of count fingerprints [2]_.
        "tanimoto": <x, y> / (<x, x> + <y, y> - <x, y>). "intersection": sum of the smaller counts, over the
        square root of the product of both sums of counts.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel; other kernels have their own.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    kernel_ : estimator
        The kernel of the index.
    ids_ : ndarray
        Ids of the graphs in the index, in the order of addition.

    See Also
    --------
    PropagationKernel : The default kernel.
    partition : Plans how graphs in files are cut into parts, for an index on disk.
    similar_because : Shared bins of two graphs.

    References
    ----------
    .. [1] J. Zobel and A. Moffat (2006). Inverted files for text search engines. ACM Computing Surveys 38
       (2). doi:10.1145/1132956.1132959.
    .. [2] P. Willett, J. M. Barnard and G. M. Downs (1998). Chemical similarity searching. Journal of
       Chemical Information and Computer Sciences 38 (6), 983-996. doi:10.1021/ci9800211.

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

    All graphs that share at least half of their counts with one of them:

    >>> index = pk.GraphIndex(similarity="jaccard", random_state=0).fit(graphs)
    >>> bool((index.query(graphs[3], at_least=0.5).similarities >= 0.5).all())
    True

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

    _counter: Any
    _file: InvertedFile
    kernel_: Any
    _n_added: int
    _names: list[Hashable]

    def __init__(
        self,
        *,
        kernel: Estimator | None = None,
        similarity: str = "cosine",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.similarity = similarity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Graphs, ids: Iterable[Hashable] | None = None) -> Self:
        """Index graphs, replacing the previous contents.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`. Kernels that learn from graphs (such as the scales of
            attributes) learn from these.
        ids : iterable, optional
            Ids of the graphs; 0, 1, 2, ... by default. An id is a number other than NaN (of up to
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
        measure = measure_of(self.similarity)
        fitted = clone(kernel).fit(graphs)
        file = InvertedFile.of(measure.features(fitted._training_counts, self.n_jobs))
        counter = measure.counter(fitted._counter)
        with self._writing():
            self._replace(Contents(file, counter, names, len(graphs)), kernel_=kernel)
        return self

    def add(
        self,
        X: Graphs | Plan | PathLike,
        ids: Iterable[Hashable] | None = None,
        *,
        executor: ExecutorLike = None,
    ) -> Self:
        """Add graphs to the index; the kernel learns nothing from them.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            For an index on disk: a :class:`~propkernels.scale.Plan`, or an input of :func:`partition`. Its
            shards are appended; a plan that is already in the index is completed, and not added again.
        ids : iterable, optional
            Ids, as in :meth:`fit`; by default numbers continue from the number of graphs ever added. On
            disk, graphs have only these numbers as ids.
        executor : optional
            For an index on disk, as in :func:`featurize`.

        Returns
        -------
        self
        """
        check_is_fitted(self, "_file")
        with self._writing():
            now = self._contents()
            if isinstance(now.file, ShardFolder):
                if ids is not None:
                    raise ValueError("graphs of an index on disk are numbered: omit ids")
                added = Contents.on_disk(now.file.add(X, executor, self.n_jobs))
            else:
                if executor is not None:
                    raise ValueError("executor is only for an index on disk: omit it")
                added = self._added(now, now.file, check_graphs(cast("Graphs", X)), ids)
            self._replace(added)
        return self

    def _added(
        self, now: Contents, file: InvertedFile, graphs: GraphDatabase, ids: Iterable[Hashable] | None
    ) -> Contents:
        """Return the contents with additional graphs."""
        fresh = running_ids(now.n_added, len(graphs)) if ids is None else ids
        names = check_ids(fresh, len(graphs), now.present())
        longer = file.append(now.counter.count(graphs, None, self.n_jobs))
        return Contents(longer, now.counter, [*now.names, *names], now.n_added + len(graphs))

    def remove(self, ids: Iterable[Hashable]) -> Self:
        """Remove graphs from an index in memory.

        Parameters
        ----------
        ids : iterable
            Ids from :meth:`fit` and :meth:`add`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an id is not in the index (then no graph is removed), or if the index is on disk.
        """
        check_is_fitted(self, "_file")
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
        plan: Plan | PathLike | Sequence[PathLike],
        out: PathLike,
        *,
        kernel: Estimator | None = None,
        similarity: str = "cosine",
        random_state: Seed = None,
        executor: ExecutorLike = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Index graphs in files, one shard on disk per part of a plan, and return the index.

        Files are checkpoints: building again resumes where it stopped.

        Parameters
        ----------
        plan : Plan, or an input of :func:`partition`
        out : str or path
            Folder to write into.
        kernel : estimator or None, default=None
            A kernel that learns nothing from graphs: PropagationKernel without attributes, WeisfeilerLehman,
            ShortestPath or LabelHistogram, with a number as ``random_state``. None:
            ``PropagationKernel(t_max=5)``.
        similarity : {"cosine", "jaccard", "tanimoto", "intersection"}, default="cosine"
            Stored with the index.
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
        measure = measure_of(similarity)
        return cls._on_disk(build_folder(plan, out, kernel, executor, n_jobs, measure), n_jobs)

    @classmethod
    def open(cls, folder: PathLike, n_jobs: int | None = None) -> Self:
        """Return an index on disk, written by :meth:`build`; shards are mapped on first use.

        Parameters
        ----------
        folder : str or path
        n_jobs : int or None, default=None
            Threads of a query, over shards; None is one, -1 all cores.

        Returns
        -------
        GraphIndex

        Raises
        ------
        ValueError
            If shards are missing, or sizes of files differ from the manifest.
        """
        return cls._on_disk(ShardFolder(folder), n_jobs)

    @classmethod
    def _on_disk(cls, file: ShardFolder, n_jobs: int | None) -> Self:
        kernel = counting_kernel(rebuilt(file.parameters))
        index = cls(kernel=kernel, similarity=file.measure.name, n_jobs=n_jobs)
        index._replace(Contents.on_disk(file), kernel_=kernel)
        return index

    def query(self, X: Graphs | Graph, k: int | None = None, *, at_least: float | None = None) -> Neighbors:
        """Return the most similar graphs in the index for each of the given graphs.

        Parameters
        ----------
        X : GraphDatabase, sequence of graphs, or one graph
            A single graph is an item of a database, or a networkx graph.
        k : int or None, default=None
            Number of neighbors; all graphs if there are fewer. None: 10, or all with ``at_least``.
        at_least : float or None, default=None
            Only graphs with this similarity or more, from 0 to 1.

        Returns
        -------
        similarities : ndarray of shape (queries, k), or (k,) for one graph
            1 for equal counts, largest first. With ``at_least``, an array of (queries,) arrays of different
            lengths.
        ids : ndarray of the same shape
            On disk, numbers of graphs in the order of the plans. Ties are in the order of addition.
        """
        check_is_fitted(self, "_file")
        now = self._contents()
        most = len(now.file) if k is None else check_integer(k, "k", 1)
        most = min(DEFAULT_K if k is None and at_least is None else most, len(now.file))
        # a number just below, so that what exceeds it is at least the number that was asked for
        above = -1.0 if at_least is None else float(np.nextafter(check_share(at_least, "at_least"), -1))
        is_one = isinstance(X, (Graph, Grid)) or is_networkx(X)
        several: Any = [X] if is_one else X
        counts = now.counter.count(check_graphs(several), None, self.n_jobs)
        found = now.file.nearest(Query.all(counts, self._measure), most, self.n_jobs, above)
        named = [(values, now.named(places)) for values, places in found]
        if is_one:
            return Neighbors(*named[0])
        if at_least is not None:
            return Neighbors(*(object_array(list(part)) for part in zip(*named, strict=True)))
        similarities = np.array([values for values, _ in found]).reshape(len(found), most)
        places = np.array([own for _, own in found], dtype=np.int64).reshape(similarities.shape)
        return Neighbors(similarities, now.named(places.ravel()).reshape(places.shape))

    @property
    def _measure(self) -> Measure:
        """The measure of similarity; indexes of earlier versions have the cosine."""
        return measure_of(vars(self).get("similarity", COSINE.name))

    def graph(self, number: int) -> Graph:
        """Return a graph of an index on disk, read from its original file.

        Parameters
        ----------
        number : int
            Id from :meth:`query`.
        """
        found: Graph = self._folder().graph(number)
        return found

    @property
    def groups(self) -> list[Group]:
        """The shards of an index on disk, per plan."""
        return self._folder().groups

    @property
    def parameters(self) -> Record:
        """Class and parameters of the features of an index on disk, and the version that built it."""
        return self._folder().parameters

    @property
    def n_shards(self) -> int:
        """Number of shards of an index on disk."""
        return len(self._folder().shards)

    def _folder(self) -> ShardFolder:
        file = vars(self).get("_file")
        if not isinstance(file, ShardFolder):
            raise AttributeError(
                "an index in memory does not store graphs: use GraphIndex.build for an index on disk"
            )
        return file

    @property
    def ids_(self) -> Array:
        """Ids of the graphs in the index, in the order of addition."""
        return id_array(self._contents().present())

    def __len__(self) -> int:
        return len(self._contents().file) if hasattr(self, "_file") else 0

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not isinstance(vars(self).get("_file"), ShardFolder):
            return str(super().__repr__(N_CHAR_MAX))
        shards = "1 shard" if self.n_shards == 1 else f"{self.n_shards:,} shards"
        return f"GraphIndex({len(self):,} graphs, {shards})"

    # atomic changes

    def _contents(self) -> Contents:
        """The current contents; later changes replace these objects and never modify them."""
        state = self.__getstate__()
        return Contents(*(state[f"_{name}"] for name in Contents._fields))

    def _replace(self, contents: Contents, **others: Any) -> None:
        """Replace the contents atomically."""
        now = {f"_{name}": part for name, part in contents._asdict().items()} | others
        before = self.__getstate__()  # keeps the old objects alive, so that the update runs no destructor
        self.__dict__.update(now)
        del before

    def __getstate__(self) -> dict[str, Any]:
        """Return a consistent copy of all attributes, for copies, pickles and queries.

        Attributes are copied and replaced by one call each: other threads and forked processes see all of a
        change or nothing of it.
        """
        return dict(vars(self))

    def _writing(self) -> ForkSafeLock:
        """Lock held by writers from reading the old contents until replacing them."""
        return _WRITERS.setdefault(self, ForkSafeLock())

    def _check_parts(self) -> None:
        """Refuse a number of names other than that of the graphs."""
        if hasattr(self, "_file"):
            require(self._counter is None or isinstance(self._counter, Counter), "a counter is needed")
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            require(_streams_of(self._counter) <= 8 * len(self._file.weights), "every stream needs a weight")
            require(all(map(is_id, self._names)), "ids are plain values, or tuples of them")
            require(len(self._names) == len(self._file.alive), "every graph needs an id")
