"""ShardedIndex: exact nearest neighbors among graphs on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from propkernels.graphs.adapters.networkx import is_networkx
from propkernels.graphs.check import check_graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.grids.database import Grid
from propkernels.kernels.propagation import PropagationKernel
from propkernels.learn.retrieval.index import DEFAULT_T_MAX, Neighbors
from propkernels.learn.retrieval.search import Query, Search, nearest
from propkernels.learn.retrieval.shard_file import Shard, most_mapped
from propkernels.learn.retrieval.shard_search import ReadAhead, ShardSearch, ahead
from propkernels.learn.retrieval.shard_work import ShardWork, shard_work
from propkernels.scale.featurizing import sample_of
from propkernels.scale.folder import PLAN, Manifest, check_size
from propkernels.scale.partition import partition
from propkernels.scale.plan import Plan
from propkernels.scale.pure import pure_features, rebuilt
from propkernels.scale.run import run_parts
from propkernels.scale.sources.reading import iter_part
from propkernels.utils.checks import check_integer
from propkernels.utils.files import inner_folder, locked

AHEAD = 64  # shards that the disk reads for at once, in each step of a query


class Group(NamedTuple):
    """Shards of one plan, and the number that its first graph has in the index."""

    folder: Path
    manifest: Manifest
    digest: str
    first_id: int
    n_rows: int


class ShardedIndex:
    """An index of graphs on the disk: shards are mapped into memory, and queries are exact.

    A query gives what a :class:`GraphIndex` of all graphs would give, to the bit. Only the postings of the
    query's own bins are read from the disk.

    Parameters
    ----------
    folder : str or path
        As :meth:`GraphIndex.build` wrote it.
    n_jobs : int or None, default=None
        Threads of a query, which take shards in turn; None is one, -1 all cores.

    See Also
    --------
    open_index : Opens one.
    GraphIndex : The same in memory, where graphs can be removed.
    partition : Makes a plan of graphs in files.

    References
    ----------
    .. [1] J. Zobel and A. Moffat (2006). Inverted files for text search engines. ACM Computing Surveys 38
       (2). doi:10.1145/1132956.1132959.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(100, random_state=0).graphs
    >>> folder = tempfile.TemporaryDirectory()
    >>> graphs.to_parquet(f"{folder.name}/graphs.parquet", row_group_size=25)
    >>> plan = pk.partition(f"{folder.name}/graphs.parquet", nodes_per_part=600)
    >>> index = pk.GraphIndex.build(plan, f"{folder.name}/index", random_state=0)
    >>> index
    ShardedIndex(100 graphs, 8 shards)
    >>> index.query(graphs[3], k=2).ids[0]
    np.int64(3)
    >>> del index
    >>> folder.cleanup()
    """

    def __init__(self, folder: Any, n_jobs: int | None = None) -> None:
        self.folder, self.n_jobs = Path(os.fspath(folder)), n_jobs
        if not self.folder.is_dir():
            raise FileNotFoundError(f"the folder {self.folder} does not exist")
        self._take(list(_groups(self.folder)))

    def _take(self, groups: list[Group]) -> None:
        if not groups:
            raise ValueError(f"{self.folder} does not hold an index: GraphIndex.build writes one")
        for group in groups:
            _check_group(group, groups[0])
        self.groups, self._ahead = groups, ReadAhead()
        self.shards = [
            (Shard(group.folder / receipt.name), group.first_id, receipt.counts["n_graphs"])
            for group in groups
            for receipt in group.manifest.receipts
            if receipt is not None
        ]

    @classmethod
    def build(
        cls, plan: Any, folder: Any, work: ShardWork, executor: Any, n_jobs: int | None
    ) -> ShardedIndex:
        """Build the shards of the first plan of a folder that are missing, and open it."""
        place = Path(os.fspath(folder))
        place.mkdir(parents=True, exist_ok=True)
        with locked(place):
            run_parts(plan, work, inner_folder(place, _name(0)), executor, text="Indexing")
        return cls(place, n_jobs)

    def add(self, plan: Any, executor: Any = None) -> Self:
        """Index the graphs of a further plan, behind the others; shards that are there are not touched.

        Work that was stopped goes on where it was: a plan that is in the index already is completed, and not
        added again.

        Parameters
        ----------
        plan : Plan, or what :func:`partition` takes
        executor : optional
            As in :func:`featurize`.

        Returns
        -------
        self
        """
        plan = plan if isinstance(plan, Plan) else partition(plan)
        work = ShardWork(pure_features(self._features(), sample_of(plan)), self.n_jobs)
        with locked(self.folder):
            place = inner_folder(self.folder, self._name_of(plan))
            run_parts(plan, work, place, executor, text="Indexing")
        self._take(list(_groups(self.folder)))
        return self

    def _name_of(self, plan: Plan) -> str:
        """Name of a plan's folder: of the one that was begun for it, or of the next one."""
        begun = sorted(path for path in self.folder.iterdir() if _is_group(path))
        for path in begun:
            if (path / PLAN).exists() and Plan.load(path / PLAN).digest == plan.digest:
                return path.name
        return _name(len(begun))

    def query(self, X: Any, k: int = 10) -> Neighbors:
        """Return the graphs of the index that are most similar to each of the given ones.

        Parameters
        ----------
        X : GraphDatabase, sequence of graphs, or one graph
        k : int, default=10
            How many; all that there are, where there are fewer.

        Returns
        -------
        similarities : ndarray of shape (queries, k), or (k,) for one graph
            Normalized kernel, 1 for equal counts, largest first.
        ids : ndarray of the same shape
            Numbers of the graphs in the plan, those of later plans behind those of earlier ones. Among
            equally similar graphs, the one with the smallest number comes first.
        """
        k = min(check_integer(k, "k", 1), len(self))
        is_one = isinstance(X, (Graph, Grid)) or is_networkx(X)
        graphs = check_graphs([X] if is_one else X)
        pure = pure_features(self._features(), graphs)
        pure.check(graphs)
        queries = Query.all(pure.estimator.counter_.count(graphs, None, self.n_jobs))
        found = [nearest(self._searches(query), k, self.n_jobs) for query in queries]
        similarities = np.array([values for values, _ in found]).reshape(len(graphs), k)
        ids = np.array([names for _, names in found], dtype=np.int64).reshape(len(graphs), k)
        return Neighbors(similarities[0], ids[0]) if is_one else Neighbors(similarities, ids)

    def _searches(self, query: Query) -> Iterator[Search]:
        """Searches of all shards; the disk runs ahead."""
        n = min(AHEAD, most_mapped() // 4)  # of each step; all that are under way stay mapped
        begun = (_begin(*shard, query, self._ahead) for shard in self.shards)
        located = (search.locate() for search in ahead(begun, n))
        found = (search.find() for search in ahead(located, n))
        return ahead(found, n)

    def graph(self, number: int) -> Any:
        """Read a graph of the index from the file that it was in when the plan was made.

        Parameters
        ----------
        number : int
            As :meth:`query` gives it.

        Returns
        -------
        Graph
        """
        number = check_integer(number, "number", 0)
        for group in self.groups:
            if number < group.first_id + group.n_rows:
                return _read_graph(Plan.load(group.folder / PLAN), number - group.first_id, number)
        raise ValueError(f"the graph {number} does not exist in {self!r}")

    def _features(self) -> Any:
        return rebuilt(self.groups[0].manifest.work)

    @property
    def parameters(self) -> dict[str, Any]:
        """Class and parameters of what counts, and the version that built the index."""
        return dict(self.groups[0].manifest.work)

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self.shards)

    def __len__(self) -> int:
        return sum(n_graphs for _, _, n_graphs in self.shards)

    def __repr__(self) -> str:
        shards = "1 shard" if self.n_shards == 1 else f"{self.n_shards:,} shards"
        return f"ShardedIndex({len(self):,} graphs, {shards})"


def build_index(
    plan: Any, folder: Any, kernel: Any, random_state: Any, executor: Any, n_jobs: int | None
) -> ShardedIndex:
    """Index the graphs of a plan; see :meth:`GraphIndex.build`."""
    plan = plan if isinstance(plan, Plan) else partition(plan)
    if kernel is None:
        kernel = PropagationKernel(t_max=DEFAULT_T_MAX, random_state=random_state)
    work = shard_work(kernel, sample_of(plan), n_jobs)
    return ShardedIndex.build(plan, folder, work, executor, n_jobs)


def open_index(folder: Any, n_jobs: int | None = None) -> ShardedIndex:
    """Open an index that :meth:`GraphIndex.build` wrote; shards are mapped when they are needed.

    Parameters
    ----------
    folder : str or path
    n_jobs : int or None, default=None
        Threads of a query; None is one, -1 all cores.

    Returns
    -------
    ShardedIndex

    Raises
    ------
    ValueError
        If shards are missing, or files do not have the size that the manifest says.

    See Also
    --------
    GraphIndex : ``GraphIndex.build`` writes such a folder.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    >>> folder = tempfile.TemporaryDirectory()
    >>> graphs.to_parquet(f"{folder.name}/graphs.parquet")
    >>> _ = pk.GraphIndex.build(f"{folder.name}/graphs.parquet", f"{folder.name}/index", random_state=0)
    >>> pk.open_index(f"{folder.name}/index")
    ShardedIndex(30 graphs, 1 shard)
    >>> folder.cleanup()
    """
    return ShardedIndex(folder, n_jobs)


def _read_graph(plan: Plan, row: int, number: int) -> Any:
    """Read one graph of a plan."""
    for part in plan:
        if part.first_id <= row < part.first_id + len(part):
            for block in iter_part(part):
                found = np.flatnonzero(block.ids == row)
                if len(found):
                    return block.graphs[int(found[0])]
    raise ValueError(f"graph {number} was left out when the index was built")


def _name(number: int) -> str:
    return f"plan{number:05}"


def _is_group(path: Path) -> bool:
    return path.is_dir() and path.name.startswith("plan") and path.name[4:].isdigit()


def _groups(folder: Path) -> Iterator[Group]:
    first_id = 0
    for path in sorted(path for path in folder.iterdir() if _is_group(path)):
        manifest, plan = Manifest.load(path), Plan.load(path / PLAN)
        yield Group(path, manifest, plan.digest, first_id, plan.n_graphs)
        first_id += plan.n_graphs


def _check_group(group: Group, first: Group) -> None:
    if group.manifest.work.get("work") != "index":
        raise ValueError(f"{group.folder} does not hold an index, but {group.manifest.work.get('work')!r}")
    if _kernel_of(group) != _kernel_of(first):
        raise ValueError(f"{group.folder} was built with another kernel than {first.folder}")
    if group.manifest.plan != group.digest:
        raise ValueError(f"{group.folder} has a manifest of another plan")
    if not group.manifest.is_complete:
        missing, n_parts = group.manifest.n_missing, len(group.manifest.receipts)
        raise ValueError(
            f"{missing} of {n_parts} shards of {group.folder} are missing: build it again to go on"
        )
    for receipt in group.manifest.receipts:
        if receipt is not None:
            if not (group.folder / receipt.name).exists():
                raise FileNotFoundError(f"{group.folder / receipt.name} is missing: build it again")
            check_size(group.folder / receipt.name, receipt)


def _kernel_of(group: Group) -> dict[str, Any]:
    return {name: value for name, value in group.manifest.work.items() if name != "version"}


def _begin(shard: Shard, first: int, n_graphs: int, query: Query, ahead: ReadAhead) -> ShardSearch:
    """Begin the search of a shard, which must have as many graphs as the manifest says."""
    if shard.n_graphs != n_graphs:
        raise ValueError(f"{shard.path} holds {shard.n_graphs} graphs instead of {n_graphs}: build it again")
    return ShardSearch(shard, query, ahead, first)
