"""What linear models take: rows, targets, and weights of classes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from propkernels.learn.linear.losses import CLASSIFIES
from propkernels.learn.selection.targets import Known, check_numbers, known_targets

Values = NDArray[np.float64]
LEAST_RANGE = 2.0**-20  # of numbers, relative to the largest: below it, the intercept decides


def canonical_rows(X: Any) -> csr_array:
    """Rows as compiled loops want them: sorted columns, each once, inside the array."""
    features = csr_array(X)
    features.check_format(full_check=True)
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    return features


def check_targets(target: Any, n_rows: int, loss: str) -> Known:
    """Return which graphs of a folder have a target, and these targets."""
    if target is None:
        raise ValueError("the files hold no target: give y, one value per graph")
    values = np.asarray(target)
    if values.ndim == 2:
        raise ValueError(f"the files hold {values.shape[1]} targets: give y, one of the columns")
    if values.shape != (n_rows,):
        raise ValueError(f"y must hold one value for each of {n_rows} graphs, got shape {values.shape}")
    known = known_targets(target, n_rows)
    if loss in CLASSIFIES:
        check_classification_targets(known.target)
        return known
    if known.target.dtype.kind not in "biuf":
        raise ValueError('loss="squared" learns numbers, and the target holds texts')
    return replace(known, target=check_numbers(known.target, len(known.places), known.places))


def target_unit(target: NDArray[Any], has_intercept: bool) -> float:
    """Return the power of 2 next to the range of the numbers: dividing by it rounds nothing.

    Examples
    --------
    >>> target_unit(np.array([300.0, 302.5]), True), target_unit(np.array([1e-9, 0]), False) == 2.0**-30
    (2.0, True)
    """
    values = np.asarray(target, dtype=np.float64)
    largest = float(np.abs(values).max(initial=0.0))
    spread = float(values.max(initial=-np.inf) - values.min(initial=np.inf)) if has_intercept else largest
    size = max(spread, largest * LEAST_RANGE)
    return 2.0 ** max(math.frexp(size)[1] - 1, -1000) if 0 < size < math.inf else 1.0


def balanced(y: NDArray[Any], classes: NDArray[Any], weights: Values, class_weight: Any) -> Values:
    """Multiply the weights of rows by those of their classes."""
    by_class = compute_class_weight(class_weight, classes=classes, y=y)
    return np.asarray(weights * by_class[np.searchsorted(classes, y)])


def stream_classes(y: NDArray[Any], given: Any, known: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes of a stream: those of the first call, which all others must agree with."""
    if known is None and given is None:
        raise ValueError("the first call of partial_fit needs classes, all that the stream will have")
    named = None if given is None else np.unique(np.asarray(given))
    if known is not None and named is not None and not np.array_equal(named, known):
        raise ValueError(f"classes must be the same in all calls of partial_fit: {known.tolist()}")
    classes = known if known is not None else named
    assert classes is not None
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"{unknown.tolist()[0]!r} is not one of the classes {classes.tolist()}")
    return classes
