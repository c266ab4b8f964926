"""featurize: compute the features of a plan, one Parquet file per part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from propkernels._utils.typing import Estimator, PathLike
from propkernels.scale.executors import ExecutorLike
from propkernels.scale.opened import FeatureFolder, open_features
from propkernels.scale.part_files import check_ids, check_part, n_columns, read_block, schema_of, write_blocks
from propkernels.scale.partition import partition
from propkernels.scale.plan import Part, Plan
from propkernels.scale.pure import PureFeatures, pure_features
from propkernels.scale.reading_parts import iter_part
from propkernels.scale.run_parts import run_parts

SAMPLE = 100  # graphs used to resolve "auto"


@dataclass(frozen=True)
class FeatureWork:
    """Work that writes the features of a part; see :class:`propkernels.scale.run_parts.Work`."""

    features: PureFeatures
    n_jobs: int | None = None
    suffix: str = ".parquet"

    def describe(self) -> dict[str, Any]:
        """Return estimator, parameters and version."""
        return self.features.description

    def write(self, part: Part, name: str, stream: IO[bytes]) -> None:
        """Write the features of a part."""
        schema = schema_of(part.target, self.features.is_whole, self._notes(part, name))
        write_blocks(stream, schema, self._blocks(part))

    def _blocks(self, part: Part) -> Iterator[tuple[Any, Any, Any]]:
        for block in iter_part(part):
            yield self.features.transform(block.graphs), block.target, block.ids

    def _notes(self, part: Part, name: str) -> dict[str, Any]:
        return self.features.description | {"part": part.content(), "name": name}

    def inspect(self, part: Part, name: str, path: Path) -> dict[str, int]:
        """Return the numbers of graphs and entries of a file."""
        return check_part(path, self._notes(part, name))

    @staticmethod
    def check(path: Path, part: Part, work: dict[str, Any]) -> dict[str, int]:
        """Read and check all values of a file; return the numbers of graphs and entries."""
        block = read_block(path, n_columns(work))
        check_ids(block.ids, part, path)
        return {"n_graphs": len(block.ids), "n_entries": block.features.nnz}


def featurize(
    plan: Plan | PathLike | Sequence[PathLike],
    features: Estimator,
    out: PathLike,
    executor: ExecutorLike = None,
) -> FeatureFolder:
    """Compute features of all graphs of a plan and write one Parquet file per part.

    Each file is a checkpoint: its name is the hash of input and parameters, it is either complete or absent,
    and computing it again gives the same bytes. After an interruption, a second run computes the missing
    parts. All executors write the same files.

    Parameters
    ----------
    plan : Plan, or source accepted by :func:`partition`
    features : estimator
        PropagationFeatures, WeisfeilerLehmanFeatures, ShortestPathFeatures or LabelHistogramFeatures with
        ``n_features`` and an integer ``random_state``. Features that learn from graphs (attributes, missing
        labels) must be fitted on a sample first.
    out : str or path
        Output folder. Its files have the columns ``graph_id`` (the number of the graph in the plan),
        ``indices`` and ``counts`` (lists) and ``target``; ``manifest.json`` lists them with their hashes.
    executor : optional
        None: ``features.n_jobs`` threads of this process. An integer: number of processes. An executor of
        ``concurrent.futures`` (ProcessPoolExecutor, loky), a Dask ``Client`` or cluster, or the address of a
        Dask scheduler ("tcp://..."): workers need access to the same files. Lost workers are replaced, and
        their parts are computed again.

    Returns
    -------
    FeatureFolder
        Same as ``open_features(out)``.

    Raises
    ------
    PartsFailedError
        If parts failed three times; the message names their files and rows. All other parts are complete.
    OSError
        If another run writes into the folder, or the disk is full.
    ValueError
        If the folder holds other files, or results with other parameters; nothing is changed.

    See Also
    --------
    partition : Make the plan.
    open_features : Read the features.
    verify : Check a folder.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(1000, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet", row_group_size=100)
    >>> plan = pk.partition(f"{folder.name}/graphs.parquet", nodes_per_part=10_000)
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> pk.featurize(plan, features, f"{folder.name}/features")
    FeatureFolder(1,000 graphs, 1,048,576 columns, 4 parts)
    >>> folder.cleanup()
    """
    plan = plan if isinstance(plan, Plan) else partition(plan)
    n_jobs = getattr(features, "n_jobs", None)
    work = FeatureWork(pure_features(features, sample_of(plan)), n_jobs)
    run_parts(plan, work, out, executor, text="Featurizing")
    return open_features(out)


def sample_of(plan: Plan) -> Any:
    """Return graphs of the first readable part; run_parts reports unreadable parts."""
    first: Exception | None = None
    for part in plan:
        try:
            return next(iter_part(part)).graphs[:SAMPLE]
        except (ValueError, OSError, StopIteration) as error:
            first = first or error
    raise ValueError(f"no part of the plan can be read: {plan.parts[0]}: {first}")
