"""Features of graphs in files: parts of a plan, computed by any executor, resumed after interruptions.

Modules, from the bottom up:

- ``plan`` and ``partition``: a :class:`~propkernels.scale.Plan` is a list of parts, ranges of rows of files
  with the hash of the bytes that they are read from (``reading_parts`` lists the formats).
- ``folder``: the folder of results, one file per part. The name of a file is the hash of its input
  and of the parameters: **the file is the checkpoint**.
- ``executors``, ``run_parts``: ``run_parts(plan, work, out, executor)`` computes the files that are missing,
  for any :class:`~propkernels.scale.run_parts.Work`; ``featurize`` runs one kind of work.
- ``pure``, ``part_files`` and ``featurizing`` compute features, ``opened`` reads them, ``verifying`` checks.

Stable interface for other stations:

``run_parts(plan, work, out, executor=None, text="...") -> Manifest``
    ``work`` is a picklable object with ``suffix``, ``n_jobs``, ``describe()`` (JSON that determines
    the bytes), ``write(part, name, stream)`` and ``inspect(part, name, path, thorough)`` (a dict of counts).
``iter_part(part) -> Iterator[GraphBlock]``
    Graphs of a part in blocks of bounded size: ``graphs``, ``target`` (or None) and ``ids``.
``open_features(out) -> FeatureFolder``
    ``len``, ``shape``, ``n_parts``, ``block(i)`` and iteration (``FeatureBlock``: ``features``, ``target``,
    ``ids``), ``to_scipy()``, ``to_dask()``, ``target``, ``ids``, ``estimator()``; picklable.
"""

from propkernels.scale.featurizing import featurize
from propkernels.scale.opened import FeatureFolder, open_features
from propkernels.scale.part_files import FeatureBlock
from propkernels.scale.partition import partition
from propkernels.scale.plan import Part, Plan
from propkernels.scale.run_parts import PartsFailedError
from propkernels.scale.verifying import verify

__all__ = [
    "FeatureBlock",
    "FeatureFolder",
    "Part",
    "PartsFailedError",
    "Plan",
    "featurize",
    "open_features",
    "partition",
    "verify",
]
