"""ShardFolder: an inverted file on disk, one shard per part of a plan; building and reading."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels import kernels
from propkernels._utils.checks import check_integer, shown
from propkernels._utils.safe_files import inner_folder, locked
from propkernels.counts.counters import Counter, Known, Occurrences, StreamCounts
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.scale.featurizing import sample_of
from propkernels.scale.folder import PLAN, Manifest, check_size
from propkernels.scale.partition import partition
from propkernels.scale.plan import Part, Plan
from propkernels.scale.pure import PureFeatures, pure_features, rebuilt
from propkernels.scale.reading_parts import iter_part
from propkernels.scale.run_parts import run_parts
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.measures import COSINE, Measure, measure_of
from propkernels.search.nearest import Query, Search, nearest
from propkernels.search.shard import ReadAhead, Shard, ShardSearch, ahead, most_mapped, write_shard

AHEAD = 64  # shards with concurrent disk reads, per step of a query
# Kernels that learn nothing from graphs, and the features with the same counts.
FEATURES_OF = {
    "LabelHistogram": "LabelHistogramFeatures",
    "PropagationKernel": "PropagationFeatures",
    "ShortestPath": "ShortestPathFeatures",
    "WeisfeilerLehman": "WeisfeilerLehmanFeatures",
}
N_COLUMNS = 2**20  # number of columns, unused: features only count here


class Group(NamedTuple):
    """The shards of one plan, and the number of its first graph in the index."""

    folder: Path
    manifest: Manifest
    digest: str
    first_id: int
    n_rows: int


class ShardFolder:
    """An inverted file on disk, as of its opening; shards are mapped on first use.

    Results equal those of an :class:`InvertedFile` of all graphs, to the bit. Only the postings of a query's
    bins are read from disk.

    Parameters
    ----------
    folder : str or path
        A folder written by :func:`build_folder`.

    Attributes
    ----------
    groups : list of Group
        One per plan.
    shards : list of tuple
        Shard, number of the first graph of its plan, and number of graphs in the shard.

    Raises
    ------
    ValueError
        If shards are missing, or sizes of files differ from the manifest.
    """

    def __init__(self, folder: Any) -> None:
        self.folder = Path(os.fspath(folder))
        if not self.folder.is_dir():
            raise FileNotFoundError(f"the folder {self.folder} does not exist")
        self.groups, self._ahead = list(_groups(self.folder)), ReadAhead()
        if not self.groups:
            raise ValueError(f"{self.folder} does not contain an index: use GraphIndex.build to write one")
        for group in self.groups:
            _check_group(group, self.groups[0])
        self.shards = [
            (Shard(group.folder / receipt.name, group.n_rows), group.first_id, receipt.counts["n_graphs"])
            for group in self.groups
            for receipt in group.manifest.receipts
            if receipt is not None
        ]

    def add(self, plan: Any, executor: Any, n_jobs: int | None) -> ShardFolder:
        """Return the folder with the shards of another plan; existing shards are not changed.

        A plan that is already in the folder is completed, and not added again.
        """
        plan = plan_of(plan)
        features = pure_features(rebuilt(self.parameters), sample_of(plan))
        work = ShardWork(features, n_jobs, measure=self.measure)
        with locked(self.folder):
            place = inner_folder(self.folder, self._name_of(plan))
            run_parts(plan, work, place, executor, text="Indexing")
        return ShardFolder(self.folder)

    def _name_of(self, plan: Plan) -> str:
        """Return the name of a plan's folder: the existing one, or the next one."""
        begun = sorted(path for path in self.folder.iterdir() if _is_group(path))
        for path in begun:
            if (path / PLAN).exists() and Plan.load(path / PLAN).digest == plan.digest:
                return path.name
        return _name(len(begun))

    def nearest(
        self, queries: Sequence[Query], k: int, n_jobs: int | None, above: float = -1.0
    ) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Return, per query, the k largest similarities above a number and their graphs.

        Threads run over shards.
        """
        return [nearest(self.searches(query), k, n_jobs, above) for query in queries]

    def searches(self, query: Query) -> Iterator[Search]:
        """Yield a prepared search of each shard for one query, with read-ahead."""
        n = min(AHEAD, most_mapped() // 4)  # per step; shards in progress stay mapped
        begun = (_begin(*shard, query, self._ahead) for shard in self.shards)
        located = (search.locate() for search in ahead(begun, n))
        found = (search.find() for search in ahead(located, n))
        return ahead(found, n)

    def graph(self, number: int) -> Any:
        """Return a graph, read from its original file."""
        number = check_integer(number, "number", 0)
        for group in self.groups:
            if number < group.first_id + group.n_rows:
                return _read_graph(Plan.load(group.folder / PLAN), number - group.first_id, number)
        raise ValueError(f"{self.folder} has the graphs 0 to {self.n_rows - 1}, not {number}")

    def places(self) -> NDArray[np.int64]:
        """Return the numbers of all graphs; rows that are not valid molecules have a number but no graph."""
        return np.concatenate([first + shard.ids(slice(None)) for shard, first, _ in self.shards])

    @property
    def n_rows(self) -> int:
        """Number of rows of all plans."""
        return self.groups[-1].first_id + self.groups[-1].n_rows

    @property
    def measure(self) -> Measure:
        """The measure of similarity; folders of earlier versions have the cosine."""
        return measure_of(self.parameters.get("similarity", COSINE.name))

    @property
    def parameters(self) -> dict[str, Any]:
        """Class and parameters of the features, and the version that built the folder."""
        return dict(self.groups[0].manifest.work)

    def stored(self) -> NoReturn:
        """Refuse to be stored in a file of a model."""
        raise ValueError(f"the index is already on disk: open it by GraphIndex.open({str(self.folder)!r})")

    def __len__(self) -> int:
        return sum(n_graphs for _, _, n_graphs in self.shards)


@dataclass(frozen=True)
class PureCounter(Counter):
    """Counter of features that learn nothing from graphs, rebuilt from their description."""

    description: dict[str, Any]

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Count codes of graphs; refuse labels that the features do not support."""
        return self._of(graphs).count(graphs, known, n_jobs)

    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterator[Occurrences]:
        """Yield the counted items, stream by stream."""
        return self._of(graphs).occurrences(graphs, n_jobs)

    def _of(self, graphs: GraphDatabase) -> Counter:
        pure = pure_features(rebuilt(self.description), graphs)
        pure.check(graphs)
        return pure.estimator._counter


def build_folder(
    plan: Any, folder: Any, kernel: Any, executor: Any, n_jobs: int | None, measure: Measure = COSINE
) -> ShardFolder:
    """Build the missing shards of a plan, and return the folder."""
    plan = plan_of(plan)
    work = shard_work(kernel, sample_of(plan), n_jobs, measure)
    rebuilt(work.describe())  # queries count with the stored parameters
    place = Path(os.fspath(folder))
    place.mkdir(parents=True, exist_ok=True)
    with locked(place):
        run_parts(plan, work, inner_folder(place, _name(0)), executor, text="Indexing")
    return ShardFolder(place)


def plan_of(source: Any) -> Plan:
    """Return a plan: the given one, or one for files of graphs."""
    try:
        return source if isinstance(source, Plan) else partition(source)
    except TypeError:
        raise TypeError(
            f"an index on disk needs a plan or files of graphs (see graphs.to_parquet); got {shown(source)}"
        ) from None


@dataclass(frozen=True)
class ShardWork:
    """Work that indexes the graphs of a part; see :class:`propkernels.scale.run_parts.Work`."""

    features: PureFeatures
    n_jobs: int | None = None
    suffix: str = ".shard"
    measure: Measure = COSINE

    def describe(self) -> dict[str, Any]:
        """Return the class and parameters of the features, and the measure unless it is the cosine."""
        similarity = {} if self.measure == COSINE else {"similarity": self.measure.name}
        return self.features.description | {"work": "index"} | similarity

    def write(self, part: Part, name: str, stream: IO[bytes]) -> None:
        """Write the postings of a part."""
        file: InvertedFile | None = None
        ids = []
        for block in iter_part(part):
            self.features.check(block.graphs)
            counts = self.features.estimator._counter.count(block.graphs, None, 1)
            file = InvertedFile.of(counts) if file is None else file.append(counts)
            ids.append(block.ids)
        if file is None:
            raise ValueError(f"{part} contains no graphs")
        write_shard(stream, file.in_one_segment(), np.concatenate(ids).astype(np.int64))

    def inspect(self, part: Part, name: str, path: Path) -> dict[str, int]:
        """Return the numbers of graphs and postings of a shard."""
        return _counts(Shard(path))

    @staticmethod
    def check(path: Path, part: Part, work: dict[str, Any]) -> dict[str, int]:
        """Check all values of a shard, and return its numbers of graphs and postings."""
        shard = Shard(path)
        shard.check(part.first_id, part.first_id + len(part))
        return _counts(shard)


def _counts(shard: Shard) -> dict[str, int]:
    return {"n_graphs": shard.n_graphs, "n_entries": shard.segment.n_entries()}


def counting_features(kernel: Any) -> CountFeatures:
    """Return features with the same counts as a kernel.

    Raises
    ------
    ValueError
        If the kernel learns from graphs, so that shards cannot be built independently.
    """
    if isinstance(kernel, CountFeatures):
        return kernel
    name = FEATURES_OF.get(type(kernel).__name__)
    known = kernel.get_params(deep=False) if name is not None else {}
    if name is None or known.get("exact"):
        raise ValueError(
            "an index on disk needs a kernel that learns nothing from graphs: PropagationKernel, "
            f"WeisfeilerLehman, ShortestPath or LabelHistogram; got {shown(kernel)}"
        )
    if known.get("attributes") is not None:
        raise ValueError(
            "a kernel on attributes learns their scale from all graphs, which an on-disk index cannot provide"
        )
    features: CountFeatures = getattr(kernels, name)(n_features=N_COLUMNS)
    own = features.get_params(deep=False)
    return features.set_params(
        **{key: value for key, value in known.items() if key in own and key != "normalize"}
    )


def counting_kernel(features: CountFeatures) -> Any:
    """Return the kernel with the same counts as features."""
    names = {own: kernel for kernel, own in FEATURES_OF.items()}
    kernel = getattr(kernels, names[type(features).__name__])()
    known, own = features.get_params(deep=False), kernel.get_params(deep=False)
    return kernel.set_params(**{key: value for key, value in known.items() if key in own})


def shard_work(kernel: Any, sample: Any, n_jobs: int | None, measure: Measure = COSINE) -> ShardWork:
    """Return the work that builds shards, with "auto" resolved on a sample of graphs."""
    features = counting_features(kernel)
    if measure.by_levels:
        features = clone(features).set_params(base_kernel="intersection")  # its features are levels
    return ShardWork(pure_features(features, sample), n_jobs, measure=measure)


def _read_graph(plan: Plan, row: int, number: int) -> Any:
    """Return one graph of a plan."""
    for part in plan:
        if part.first_id <= row < part.first_id + len(part):
            for block in iter_part(part):
                found = np.flatnonzero(block.ids == row)
                if len(found):
                    return block.graphs[int(found[0])]
    raise ValueError(f"graph {number} was skipped when the index was built")


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
        raise ValueError(f"{group.folder} does not contain an index, but {group.manifest.work.get('work')!r}")
    if _kernel_of(group) != _kernel_of(first):
        raise ValueError(f"{group.folder} was built with another kernel than {first.folder}")
    if group.manifest.plan != group.digest:
        raise ValueError(f"{group.folder} has a manifest of another plan")
    if not group.manifest.is_complete:
        missing, n_parts = group.manifest.n_missing, len(group.manifest.receipts)
        raise ValueError(
            f"{missing} of {n_parts} shards of {group.folder} are missing: build it again to resume"
        )
    for receipt in group.manifest.receipts:
        if receipt is not None:
            if not (group.folder / receipt.name).exists():
                raise FileNotFoundError(f"{group.folder / receipt.name} is missing: build it again")
            check_size(group.folder / receipt.name, receipt)


def _kernel_of(group: Group) -> dict[str, Any]:
    return {name: value for name, value in group.manifest.work.items() if name != "version"}


def _begin(shard: Shard, first: int, n_graphs: int, query: Query, ahead: ReadAhead) -> ShardSearch:
    """Return the search of a shard, after checking its number of graphs against the manifest."""
    if shard.n_graphs != n_graphs:
        raise ValueError(f"{shard.path} holds {shard.n_graphs} graphs instead of {n_graphs}: build it again")
    return ShardSearch(shard, query, ahead, first)
