"""What ``fit`` leaves behind: the types of the attributes of fitted estimators.

A test compares the fitted attributes of all estimators with this table, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.storage.classes import name_of
from propkernels.storage.types import Check, check_of
from propkernels.utils.ids import is_id


class Objects:
    """Savable objects of some classes; without names, any estimator of this library."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, value: Any) -> bool:
        """Whether the value is one of them."""
        if not self.names:
            return name_of(value) is not None and hasattr(value, "get_params")
        return name_of(value) in self.names


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _classes(value: Any) -> bool:
    """Class labels: one dimension of numbers, text or any objects."""
    return isinstance(value, np.ndarray) and value.ndim == 1


CODERS = (
    "PropagationCoder",
    "RefinementCoder",
    "ExactCoder",
    "EntryCoder",
    "TripletCoder",
    "HopCounter",
    "JoinedCounter",
    "LevelCounter",
    "SubgraphCounter",
)
FEATURES = (
    "LabelHistogramFeatures",
    "PropagationFeatures",
    "ShortestPathFeatures",
    "WeisfeilerLehmanFeatures",
)
COMPARISONS = (
    "CountedComparison",
    "EqualLengths",
    "HopComparison",
    "MeanOverPairs",
    "SubgraphComparison",
    "SubgraphCounts",
)
_STREAMS = _list_of(Objects("StreamCounts"))
_PREPARED = Objects("Nodes", "Paths", "Hops", "Wired")
_whole, _number = check_of(int), check_of(float)
_floats, _optional_floats = check_of(NDArray[np.float64]), check_of(NDArray[np.float64] | None)

NOVELTY_SCORES = {
    "neighbors": "NeighborScore",
    "density": "DensityScore",
    "one_class_svm": "OneClassScore",
    "rarity": "RarityScore",
    "size": "SizeScore",
}


def _scores(value: Any) -> bool:
    """Scores of a detector, by name."""
    if not isinstance(value, dict):
        return False
    return all(name in NOVELTY_SCORES and name_of(one) == NOVELTY_SCORES[name] for name, one in value.items())


FITTED: dict[str, Check] = {
    "C_": check_of(float | None),
    "_n_features_out": _whole,
    "base_kernel_": Objects("Linear", "RadialBasis", "Intersection", "Tanimoto", "Jaccard"),
    "calibration_": lambda value: value is None or name_of(value) == "Calibration",
    "centers_": _floats,
    "classes_": _classes,
    "coder_": Objects(*CODERS),
    "coef_": _floats,
    "colors_": _floats,
    "comparison_": Objects(*COMPARISONS),
    "completed_": _number,
    "counter_": lambda value: value is None or name_of(value) is not None,
    "counts_": _STREAMS,
    "diagonal_": _optional_floats,
    "epsilon_": check_of(float | None),
    "feature_names_in_": _classes,
    "features_": lambda value: value is None or name_of(value) in FEATURES,
    "file_": Objects("InvertedFile"),
    "fingerprint_": check_of(str),
    "folds_": check_of(NDArray[np.int64]),
    "frequencies_": check_of(dict[Hashable, float]),
    "gradients_": _floats,
    "held_out_scores_": _floats,
    "imputer_": lambda value: value is None or name_of(value) == "LabelImputer",
    "index_": Objects("GraphIndex"),
    "intercept_": _floats,
    "judged_": check_of(NDArray[np.int64]),
    "kernel_": Objects(),
    "kernels_": _list_of(Objects()),
    "layout_": Objects("DecisionLayout"),
    "n_added_": _whole,
    "n_columns_": check_of(int | None),
    "n_features_in_": _whole,
    "n_folds_": _whole,
    "n_iter_": _whole,
    "n_labels_": _whole,
    "n_levels_": _whole,
    "n_neighbors_": _whole,
    "n_targets_": check_of(int | None),
    "names_": _list_of(is_id),
    "normalize_": check_of(bool | None),
    "offset_": _number,
    "partial_": lambda value: value is None or name_of(value) in ("TiledMatrix", "SubgraphTally"),
    "posterior_": lambda value: value is None or name_of(value) == "Posterior",
    "prepared_": lambda value: _STREAMS(value) or _PREPARED(value),
    "prior_": Objects("Prior"),
    "rule_": Objects("Rule"),
    "scales_": _floats,
    "scheme_": Objects(),
    "score_": _number,
    "scores_": _scores,
    "solver_": check_of(str),
    "squares_": _floats,
    "stream_codes_": check_of(list[NDArray[np.int64]]),
    "stream_iterations_": check_of(NDArray[np.int64]),
    "t_max_": check_of(int | None),
    "target_": _classes,
    "train_ptr_": check_of(NDArray[np.int64]),
    "training_scores_": _floats,
    "used_": check_of(list[str]),
    "weights_": _floats,
}

_COUNTED = ("_n_features_out", "base_kernel_", "coder_", "counts_", "diagonal_")
_COMPARED = (
    "_n_features_out",
    "comparison_",
    "completed_",
    "diagonal_",
    "partial_",
    "prepared_",
    "train_ptr_",
)
_COLUMNS = ("coder_", "n_columns_", "stream_codes_", "stream_iterations_")
_LEARNED = ("intercept_", "kernel_", "posterior_", "rule_", "t_max_")

# What ``fit`` of every version leaves in every case: an estimator has all of it, or nothing.
ALWAYS: dict[str, tuple[str, ...]] = {
    "AttributeKernel": _COMPARED,
    "CategoryPrior": ("classes_", "kernel_", "n_neighbors_", "score_", "t_max_", "target_"),
    "GraphHopper": _COMPARED,
    "GraphIndex": ("counter_", "file_", "kernel_", "n_added_", "names_"),
    "LabelHistogram": _COUNTED,
    "LabelHistogramFeatures": _COLUMNS,
    "LabelImputer": ("frequencies_", "prior_", "scheme_"),
    "LinearModel": ("coef_", "features_", "intercept_", "n_features_in_", "n_iter_"),
    "NoveltyDetector": (
        "centers_",
        "folds_",
        "held_out_scores_",
        "index_",
        "scales_",
        "scores_",
        "training_scores_",
        "used_",
    ),
    "P2K": _COUNTED,
    "PropagationClassifier": (*_LEARNED, "calibration_", "classes_", "layout_"),
    "PropagationFeatures": _COLUMNS,
    "PropagationKernel": _COUNTED,
    "PropagationRegressor": (*_LEARNED, "n_targets_"),
    "ShortestPath": _COMPARED,
    "ShortestPathFeatures": _COLUMNS,
    "SubgraphMatching": _COMPARED,
    "SumKernel": ("diagonal_", "kernels_", "weights_"),
    "WeisfeilerLehman": _COUNTED,
    "WeisfeilerLehmanFeatures": _COLUMNS,
}
