"""What an explanation compares: one class with another, or with all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Sides(NamedTuple):
    """The class that an explanation speaks for, and those it is compared with.

    Attributes
    ----------
    first : int
        Number of the class spoken for.
    others : list of int
        Numbers of the classes it is compared with; the mean over them counts.
    speaks_for : Any
        The class spoken for.
    against : Any
        The class it is compared with; None where there are several.
    """

    first: int
    others: list[int]
    speaks_for: Any
    against: Any


def find_sides(names: Sequence[Any], classes: Any = None) -> Sides:
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
    >>> find_sides(["cup", "jar", "pan"], "jar")
    Sides(first=1, others=[0, 2], speaks_for='jar', against=None)
    """
    known = list(names)
    if classes is None and len(known) > 2:
        raise ValueError(f"name the two classes to compare, or one to compare with the others, of {known}")
    first, others = _sides(known, (known[1], known[0]) if classes is None else classes)
    return Sides(first, others, known[first], known[others[0]] if len(others) == 1 else None)


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
