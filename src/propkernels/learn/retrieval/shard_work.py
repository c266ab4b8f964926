"""Shards as work on the parts of a plan: read graphs, count them, write their postings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from propkernels import kernels
from propkernels.kernels.features import CountFeatures
from propkernels.learn.retrieval.inverted_file import InvertedFile
from propkernels.learn.retrieval.shard_file import Shard, write_shard
from propkernels.scale.plan import Part
from propkernels.scale.pure import PureFeatures, pure_features
from propkernels.scale.sources.reading import iter_part
from propkernels.utils.checks import shown

# Kernels that learn nothing from graphs, and the features that count as they do.
FEATURES_OF = {
    "LabelHistogram": "LabelHistogramFeatures",
    "PropagationKernel": "PropagationFeatures",
    "ShortestPath": "ShortestPathFeatures",
    "WeisfeilerLehman": "WeisfeilerLehmanFeatures",
}
N_COLUMNS = 2**20  # of features that are never computed: they only count


@dataclass(frozen=True)
class ShardWork:
    """Index the graphs of a part; see :class:`propkernels.scale.run.Work`."""

    features: PureFeatures
    n_jobs: int | None = None
    suffix: str = ".shard"

    def describe(self) -> dict[str, Any]:
        """What counts, with all parameters."""
        return self.features.description | {"work": "index"}

    def write(self, part: Part, name: str, stream: IO[bytes]) -> None:
        """Write the postings of a part."""
        file: InvertedFile | None = None
        ids = []
        for block in iter_part(part):
            self.features.check(block.graphs)
            counts = self.features.estimator.counter_.count(block.graphs, None, 1)
            file = InvertedFile.of(counts) if file is None else file.append(counts)
            ids.append(block.ids)
        if file is None:
            raise ValueError(f"{part} holds no graphs")
        write_shard(stream, file.in_one_segment(), np.concatenate(ids).astype(np.int64))

    def inspect(self, part: Part, name: str, path: Path, thorough: bool) -> dict[str, int]:
        """Count the graphs and postings of a shard."""
        return self.check(path, part, self.describe()) if thorough else _counts(Shard(path))

    @staticmethod
    def check(path: Path, part: Part, work: dict[str, Any]) -> dict[str, int]:
        """Count the graphs and postings of a shard, of which every number is read."""
        shard = Shard(path)
        shard.check(part.first_id, part.first_id + len(part))
        return _counts(shard)


def _counts(shard: Shard) -> dict[str, int]:
    return {"n_graphs": shard.n_graphs, "n_entries": shard.segment.n_entries()}


def counting_features(kernel: Any) -> CountFeatures:
    """Features that count as a kernel does.

    Raises
    ------
    ValueError
        If a shard cannot be built without knowing the others: the kernel learns from graphs.
    """
    if isinstance(kernel, CountFeatures):
        return kernel
    name = FEATURES_OF.get(type(kernel).__name__)
    known = kernel.get_params(deep=False) if name is not None else {}
    if name is None or known.get("exact"):
        raise ValueError(
            "an index on disk needs a kernel that counts each graph by itself: PropagationKernel, "
            f"WeisfeilerLehman(exact=False), ShortestPath or LabelHistogram; got {shown(kernel)}"
        )
    if known.get("attributes") is not None:
        raise ValueError(
            "a kernel of attributes learns their scale from all graphs: an index on disk has none"
        )
    features: CountFeatures = getattr(kernels, name)(n_features=N_COLUMNS)
    own = features.get_params(deep=False)
    return features.set_params(
        **{key: value for key, value in known.items() if key in own and key != "normalize"}
    )


def shard_work(kernel: Any, sample: Any, n_jobs: int | None) -> ShardWork:
    """The work of building shards, with "auto" resolved on a sample of graphs."""
    return ShardWork(pure_features(counting_features(kernel), sample), n_jobs)
