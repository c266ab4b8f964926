"""What an explanation compares: one class with another, or with all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Comparison(NamedTuple):
    """A weighted sum of the decisions between pairs of classes.

    Attributes
    ----------
    weights : ndarray, (pairs,)
        What each decision counts; pairs in the order (0, 1), (0, 2), ..., positive for the first.
    speaks_for : Any
        The class that a positive sum speaks for.
    against : Any
        The class it is compared with; None: the mean over all others.
    """

    weights: NDArray[np.float64]
    speaks_for: Any
    against: Any


def compare_classes(names: Sequence[Any], classes: Any = None) -> Comparison:
    """Return what the parameter ``classes`` of ``explain`` stands for.

    Parameters
    ----------
    names : sequence
        All classes, sorted.
    classes : pair, one class, or None
        Two classes are compared with each other, one with the mean of the others; None: the second of
        two classes with the first.

    Examples
    --------
    >>> compare_classes(["cup", "pan"]).weights
    array([-1.])
    >>> compare_classes(["cup", "jar", "pan"], "jar").weights
    array([-0.5,  0. ,  0.5])
    """
    known = list(names)
    if classes is None and len(known) > 2:
        raise ValueError(f"name the two classes to compare, or one to compare with the others, of {known}")
    first, others = _sides(known, (known[1], known[0]) if classes is None else classes)
    pairs = [(i, j) for i in range(len(known)) for j in range(i + 1, len(known))]
    weights = np.zeros(len(pairs))
    for other in others:
        weights[pairs.index((min(first, other), max(first, other)))] = 1.0 if first < other else -1.0
    against = known[others[0]] if len(others) == 1 else None
    return Comparison(weights / len(others), known[first], against)


def _sides(known: list[Any], classes: Any) -> tuple[int, list[int]]:
    """Number of the class spoken for, and those of the classes it is compared with."""
    if isinstance(classes, (tuple, list)) and len(classes) == 2:
        first, second = classes
        if first not in known or second not in known or first == second:
            raise ValueError(f"classes must be two different ones of {known}; got {(first, second)}")
        return known.index(first), [known.index(second)]
    if classes not in known:
        raise ValueError(f"classes must be one or two of {known}; got {classes!r}")
    first = known.index(classes)
    return first, [i for i in range(len(known)) if i != first]
