"""How predictions on a test fold are scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.checks import check_choice

Scores = Callable[[NDArray[Any], NDArray[Any]], float]


def _accuracy(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(np.mean(truth == predicted))


def _r2(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    spread = float(np.sum((truth - truth.mean()) ** 2))
    return 1.0 - float(np.sum((truth - predicted) ** 2)) / spread if spread else float("nan")


def _mae(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(np.mean(np.abs(truth - predicted)))


def _rmse(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


_CLASSES: dict[str, Scores] = {"accuracy": _accuracy}
_NUMBERS: dict[str, Scores] = {"r2": _r2, "mae": _mae, "rmse": _rmse}


def resolve_metric(scoring: str | None, is_classification: bool, leaves_one_out: bool) -> tuple[str, Scores]:
    """Return a metric and its name; None stands for accuracy, or R^2 (one graph at a time: "mae").

    Examples
    --------
    >>> resolve_metric(None, True, False)[0], resolve_metric(None, False, True)[0]
    ('accuracy', 'mae')
    """
    known = _CLASSES if is_classification else _NUMBERS
    if scoring is None:
        scoring = "accuracy" if is_classification else "mae" if leaves_one_out else "r2"
    check_choice(scoring, tuple(known), "scoring")
    if leaves_one_out and scoring == "r2":
        raise ValueError('scoring="r2" needs more than one graph per fold; "mae" and "rmse" do not')
    return scoring, known[scoring]
