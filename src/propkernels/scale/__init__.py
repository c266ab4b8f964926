"""Features of graphs in files: parts of a plan, computed by any executor, resumed after interruptions.

Modules, from the bottom up: ``plan`` (parts: ranges of rows of files); readers ``parquet_files``,
``molecule_files``, ``sdf_files`` and ``tu_folders``, each with ``survey`` and ``read``; ``pure`` and
``part_files`` (features of a part, as a file); ``opened`` (the folder); ``partition``; ``featurizing``.
"""

from propkernels.scale.featurizing import PartsFailedError, featurize
from propkernels.scale.opened import FeatureFolder, open_features
from propkernels.scale.part_files import FeatureBlock
from propkernels.scale.partition import partition
from propkernels.scale.plan import Part, Plan

__all__ = [
    "FeatureBlock",
    "FeatureFolder",
    "Part",
    "PartsFailedError",
    "Plan",
    "featurize",
    "open_features",
    "partition",
]
