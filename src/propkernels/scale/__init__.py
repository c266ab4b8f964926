"""Features of graphs in files: parts of a plan, computed by any executor, resumed after interruptions.

Modules, from the bottom up: ``readers`` (plans of parts, ranges of rows of files; of each format a reader);
``pure`` (features of a part); ``opened`` (files of features); ``partition``; ``featurizing``.
"""

from propkernels.scale.featurizing import PartsFailedError, featurize
from propkernels.scale.opened import FeatureBlock, FeatureFolder, open_features
from propkernels.scale.partition import partition
from propkernels.scale.readers import Part, Plan

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
