"""GraphIndex: exact nearest neighbors among many graphs; similarity of two graphs."""

from __future__ import annotations

import warnings
from _thread import RLock
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, overload
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import object_array
from propkernels._utils.cells import id_array, is_id, plain_ids
from propkernels._utils.checks import GraphInput, check_integer, check_share, shown
from propkernels._utils.locks import fork_safe_lock
from propkernels._utils.parallel import threaded, workers
from propkernels._utils.stored import require
from propkernels._utils.typing import Array, Estimator, Seed
from propkernels.convert.check import check_graphs, warn_of_missing_labels
from propkernels.convert.networkx import is_networkx
from propkernels.counts.base_kernels import Linear
from propkernels.counts.counters import Counter
from propkernels.graphs.container import Graph
from propkernels.graphs.grid_database import Graphs, Grid, OneGraph
from propkernels.kernels.neighborhoods import Neighborhoods, named_kernel
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.search.bounds import Measure, measure_of
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Neighbors, Query


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
    if len(known) < len(names) or not known.isdisjoint(taken):
        seen = set(taken)
        again = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"ids must be different from each other, but {shown(again)} is already taken")
    return names


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

    ``names`` are the ids of the file's graphs, including removed ones.
    """

    file: InvertedFile
    counter: Counter
    names: Sequence[Hashable]
    n_added: int

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
_WRITERS: WeakKeyDictionary[GraphIndex, RLock] = WeakKeyDictionary()
# The file and the graphs of fitted indexes, while they are in memory: for drawings of what was found.
_INDEXED: WeakKeyDictionary[GraphIndex, tuple[Any, Any]] = WeakKeyDictionary()


@dataclass(kw_only=True, eq=False, repr=False)
class IndexParameters:
    """Parameters of :class:`GraphIndex`."""

    kernel: Estimator | str | None = None
    similarity: str = "cosine"
    random_state: Seed = None
    n_jobs: int | None = None


class GraphIndex(IndexParameters, GraphInput, BaseEstimator):
    """Exact nearest-neighbor search among graphs by similarity of counts, without comparing all pairs.

    For each bin, the index stores the graphs in which it occurs. A query reads only the bins of its own
    nodes. Adding and removing graphs does not change the others, since codes are functions of the random
    state and of the graph alone.

    :func:`save_model` writes an index to one file. ``load_model(path, mmap_mode="r")`` opens it without
    reading it into memory: a query reads the postings of its own bins from the file, and processes share
    them. Such an index is read-only; results are identical to the bit.

    An index is thread-safe. A query uses the index as of its start; :meth:`fit`, :meth:`add` and
    :meth:`remove` replace the contents atomically, one after the other.

    Parameters
    ----------
    kernel : estimator, str or None, default=None
        A kernel of this library that counts codes: propagation kernels (also on grids, and P2K) and
        Weisfeiler-Lehman with the linear base kernel, label histograms, shortest paths and GraphHopper on
        labels. None: ``PropagationKernel(t_max=5)``; with "jaccard", what :func:`similarity` counts.
        Similarities are always normalized.
    similarity : {"cosine", "jaccard", "tanimoto", "intersection"}, default="cosine"
        Similarity of two count vectors x and y, over the bins of all iterations, from 0 to 1 (equal counts).
        "cosine": normalized kernel <x, y> / sqrt(<x, x> <y, y>). "jaccard": sum of the smaller over sum of
        the larger counts, which chemists call the Tanimoto similarity of count fingerprints [2]_; without
        a kernel, the number that :func:`similarity` returns.
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
    load_model : Loads a saved index, or opens it in its file.
    similarity : The similarity of two graphs.
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

    In a file:

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> pk.save_model(index, f"{folder.name}/index.pk")
    >>> opened = pk.load_model(f"{folder.name}/index.pk", mmap_mode="r")
    >>> opened.query(graphs[3], k=2).ids[0]
    np.int64(3)
    >>> del opened
    >>> folder.cleanup()
    """

    _counter: Any
    _file: InvertedFile
    kernel_: Any
    _n_added: int
    _names: Sequence[Hashable]

    @threaded
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
        names = range(len(graphs)) if ids is None else check_ids(ids, len(graphs), ())
        measure = measure_of(self.similarity)
        default: Any = PropagationKernel(t_max=DEFAULT_T_MAX, random_state=self.random_state)
        default = Neighborhoods() if measure.name == "jaccard" else default
        chosen = named_kernel(self.kernel, random_state=self.random_state)
        if chosen is None:
            warn_of_missing_labels(graphs, stacklevel=4)  # of fit and its wrapper
        kernel = default if chosen is None else clone(chosen)
        check_counting(kernel)
        fitted = clone(kernel).fit(graphs)
        file = InvertedFile.of(measure.features(fitted._training_counts))
        counter = measure.counter(fitted._counter)
        with self._writing():
            self._replace(Contents(file, counter, names, len(graphs)), kernel_=kernel)
        _INDEXED[self] = file, ref(graphs)
        return self

    @threaded
    def add(self, X: Graphs, ids: Iterable[Hashable] | None = None) -> Self:
        """Add graphs to the index; the kernel learns nothing from them.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        ids : iterable, optional
            Ids, as in :meth:`fit`; by default numbers continue from the number of graphs ever added.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an id is taken, or the index was opened read-only.
        """
        check_is_fitted(self, "_file")
        graphs = check_graphs(X)
        with self._writing():
            now = self._changeable()
            if ids is None and now.names == range(now.n_added):
                names: Sequence[Hashable] = range(now.n_added + len(graphs))
            else:
                fresh = range(now.n_added, now.n_added + len(graphs)) if ids is None else ids
                names = [*now.names, *check_ids(fresh, len(graphs), now.present())]
            file = now.file.append(now.counter.count(graphs, None))
            self._replace(Contents(file, now.counter, names, now.n_added + len(graphs)))
        return self

    def remove(self, ids: Iterable[Hashable]) -> Self:
        """Remove graphs from the index.

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
            If an id is not in the index (then no graph is removed), or the index was opened read-only.
        """
        check_is_fitted(self, "_file")
        with self._writing():
            now = self._changeable()
            places = now.places()
            dropped = dict.fromkeys(plain_ids(ids))
            for name in dropped:
                if name not in places:
                    raise ValueError(f"{shown(name)} is not in the index")
            file, renumbered = now.file.drop(np.array([places[name] for name in dropped], dtype=np.int64))
            names = [name for name in places if name not in dropped] if renumbered else now.names
            self._replace(now._replace(file=file, names=names))
        return self

    @threaded
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
            Ties are in the order of addition.
        """
        return self._query(X, k, at_least, tells=True)

    def _query(
        self, X: Graphs | Graph, k: int | None = None, at_least: float | None = None, *, tells: bool = False
    ) -> Neighbors:
        """Return nearest graphs; ``tells``: warn if none is similar."""
        check_is_fitted(self, "_file")
        now = self._contents()
        most = len(now.file) if k is None else check_integer(k, "k", 1)
        most = min(DEFAULT_K if k is None and at_least is None else most, len(now.file))
        # a number just below, so that what exceeds it is at least the number that was asked for
        above = -1.0 if at_least is None else float(np.nextafter(check_share(at_least, "at_least"), -1))
        is_one = isinstance(X, (Graph, Grid)) or is_networkx(X)
        several: Any = [X] if is_one else X
        graphs = check_graphs(several)
        counts = now.counter.count(graphs, None)
        found = now.file.nearest(Query.all(counts, self._measure), most, above)
        if tells and most and graphs.n_nodes and at_least is None and not any(v.any() for v, _ in found):
            warnings.warn(
                "all similarities are 0: no graph of the index shares a bin with a graph that was asked for; "
                "were both read alike, with the same labels?",
                stacklevel=4,  # this, query and its wrapper
            )
        named = [(values, now.named(places)) for values, places in found]
        if is_one:
            neighbors = Neighbors(*named[0])
        elif at_least is not None:
            neighbors = Neighbors(*(object_array(list(part)) for part in zip(*named, strict=True)))
        else:
            similarities = np.array([values for values, _ in found]).reshape(len(found), most)
            places = np.array([own for _, own in found], dtype=np.int64).reshape(similarities.shape)
            neighbors = Neighbors(similarities, now.named(places.ravel()).reshape(places.shape))
        file, graphs = _INDEXED.get(self, (None, lambda: None))
        return neighbors._shown_with(graphs() if file is now.file else None, [own for _, own in found])

    @property
    def _measure(self) -> Measure:
        """The measure of similarity."""
        return measure_of(self.similarity)

    @property
    def ids_(self) -> Array:
        """Ids of the graphs in the index, in the order of addition."""
        return id_array(self._contents().present())

    def __len__(self) -> int:
        return len(self._contents().file) if hasattr(self, "_file") else 0

    # atomic changes

    def _contents(self) -> Contents:
        """The current contents; later changes replace these objects and never modify them."""
        state = self.__getstate__()
        return Contents(*(state[f"_{name}"] for name in Contents._fields))

    def _changeable(self) -> Contents:
        """The current contents, unless they are mapped from a file: those arrays are read-only."""
        now = self._contents()
        if not now.file.squares.flags.writeable:
            raise ValueError("the index was opened read-only: load it by load_model(path) to change it")
        return now

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

    def _writing(self) -> RLock:
        """Lock held by writers from reading the old contents until replacing them."""
        return _WRITERS.setdefault(self, fork_safe_lock())

    def _check_parts(self) -> None:
        """Refuse a number of names other than that of the graphs."""
        if hasattr(self, "_file"):
            require(self._counter is None or isinstance(self._counter, Counter), "a counter is needed")
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            # a counter with attributes makes up to eight times as many streams
            n_streams = getattr(getattr(self._counter, "counter", self._counter), "n_streams", 1)
            require(n_streams <= 8 * len(self._file.weights), "every stream needs a weight")
            are_ids = isinstance(self._names, range) or all(map(is_id, self._names))
            require(are_ids, "ids are plain values, or tuples of them")
            require(len(self._names) == len(self._file.alive), "every graph needs an id")


@overload
def similarity(g: OneGraph, h: OneGraph, /, *, kernel: Estimator | str | None = None) -> float: ...


@overload
def similarity(graphs: Graphs, /, *, kernel: Estimator | str | None = None) -> NDArray[np.float64]: ...


def similarity(
    g: Graphs | OneGraph, h: OneGraph | None = None, /, *, kernel: Estimator | str | None = None
) -> float | NDArray[np.float64]:
    """Return how similar two graphs are, from 0 to 1, or the matrix of all similarities of several graphs.

    It is the ratio of shared to all neighborhoods: around each node of both graphs, those of 0, 1, 2 and 3
    steps are counted, and the sum of smaller counts is divided by the sum of larger counts (min-max, which
    chemists call the Tanimoto similarity of count fingerprints). Isomorphic graphs have similarity 1, with
    everything that they carry taken as it is: labels, edge labels, direction, weights and attributes. It is
    the number that ``GraphIndex(similarity="jaccard")`` ranks by.

    A similarity of 0.7 says that of all neighborhoods that occur in either graph, 70 % occur in both: about
    that similar are a molecule of 25 atoms and the same without one bond. Graphs that three steps of
    refinement cannot tell apart also get 1, such as two triangles and a hexagon;
    ``graph_hash(graph, exact=True)`` decides.

    Parameters
    ----------
    g, h : graph
        Graphs of networkx, igraph, PyTorch Geometric or RDKit, SMILES, adjacency matrices, lists of edges,
        items of a database, ...: all that a list for :func:`check_graphs` may hold. Without ``h``, ``g`` is
        such a list, or a database.
    kernel : estimator or str, optional
        What is counted instead: a kernel of this library that counts. Of other kernels and of sums the
        normalized value is returned, k(g, h) / sqrt(k(g, g) k(h, h)).

    Returns
    -------
    float, or ndarray of shape (n, n) for several graphs

    Warns
    -----
    UserWarning
        If some graphs have node labels and others have none: they share no neighborhood.

    See Also
    --------
    similar_because : The neighborhoods that two graphs share.
    edit_distance : A number of edits.
    GraphIndex : The most similar graphs of many.

    Notes
    -----
    A node without a label has its number of neighbors instead. Weights and attributes count three times: not
    at all, rounded (to 1, 1.5, 2, 3, 4, 6, 8, ...), and exactly; so graphs that differ in these numbers alone
    are similar, but never equal. Nothing is learned from the graphs: the similarity of two graphs does not
    depend on others. Grids are compared by ``PropagationKernel(t_max=3, random_state=0)``.

    References
    ----------
    .. [1] P. Willett, J. M. Barnard and G. M. Downs (1998). Chemical similarity searching. Journal of
       Chemical Information and Computer Sciences 38 (6), 983-996. doi:10.1021/ci9800211.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.similarity(nx.cycle_graph(6), nx.cycle_graph(6))
    1.0
    >>> round(pk.similarity(nx.path_graph(6), nx.path_graph(7)), 2)
    0.73
    >>> pk.similarity([nx.path_graph(6), nx.path_graph(7), nx.star_graph(5)]).shape
    (3, 3)
    """
    several: Any = g if h is None else [g, h]
    graphs = check_graphs(several)
    kernel = named_kernel(kernel, random_state=0)
    if kernel is None:
        warn_of_missing_labels(graphs)
    elif isinstance(kernel, type) or not hasattr(kernel, "_is_dot_product"):
        raise TypeError(f"kernel must be a kernel, such as pk.WeisfeilerLehman(), got {shown(kernel)}")
    chosen: Any = Neighborhoods() if kernel is None else clone(kernel)
    if chosen._is_dot_product and not isinstance(chosen, SumKernel):
        with workers(chosen.n_jobs):
            shared = Linear().square(measure_of("jaccard").features(chosen.fit(graphs)._training_counts))
        own = shared.diagonal()
        below = own[:, None] + own - shared
    else:
        shared = np.asarray(chosen.fit_transform(graphs))
        own = shared.diagonal()
        below = np.sqrt(own[:, None] * own)
    # two graphs without neighborhoods are equal
    values = np.clip(np.divide(shared, below, out=np.ones_like(shared), where=below > 0), 0.0, 1.0)
    return values if h is None else float(values[0, 1])
