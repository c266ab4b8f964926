"""Losses of linear models, and how large they and their slopes can get."""

from __future__ import annotations

from typing import NamedTuple

LOGISTIC, SQUARED_HINGE, SQUARED = 0, 1, 2
LOSSES = {"logistic": LOGISTIC, "squared_hinge": SQUARED_HINGE, "squared": SQUARED}
CLASSIFIES = ("logistic", "squared_hinge")


class Bounds(NamedTuple):
    """What no loss, and no slope, of a row exceeds."""

    loss: float
    slope: float


def bounds_of(loss: int, largest_decision: float, largest_target: float, largest_weight: float) -> Bounds:
    """Bounds of the losses of rows whose decisions are bounded.

    With decision z and target y: log(1 + exp(-y z)) is at most |z| + 1, with a slope of at most 1;
    max(0, 1 - y z)^2 is at most (1 + |z|)^2, with a slope of at most 2 (1 + |z|);
    (z - y)^2 / 2 is at most (|z| + |y|)^2 / 2, with a slope of at most |z| + |y|.
    """
    z, y = largest_decision, largest_target
    loss_bound, slope_bound = {
        LOGISTIC: (z + 1, 1.0),
        SQUARED_HINGE: ((1 + z) * (1 + z), 2 * (1 + z)),
        SQUARED: ((z + y) * (z + y) / 2, z + y),
    }[loss]
    return Bounds(largest_weight * loss_bound, largest_weight * slope_bound)
