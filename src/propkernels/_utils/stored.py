"""Annotations of savable classes, used by ``storage`` to check objects loaded from files.

A savable class declares next to its fields:

- annotations of its fields, or of attributes learned by ``fit``, are the required types;
- an array of integers is annotated as :class:`Offsets` or :class:`Indices` of another attribute, or as
  :data:`ANY_NUMBER`: compiled functions do not check offsets and indices;
- numbers that may be NaN or infinite are annotated as :data:`NOT_FINITE`;
- ``_check_parts`` raises ValueError for inconsistent attributes, by :func:`require`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.arrays import check_indices, check_offsets

ANY_NUMBER = "any number"  # not an index: hashes and numbers of iterations
SOMETIMES = "sometimes"  # learned only by some versions, or with some parameters
NOT_FINITE = "not finite"  # NaN or infinity have a meaning; stored numbers are finite elsewhere


class Offsets(NamedTuple):
    """Annotation of offsets that cut another attribute into pieces.

    Attributes
    ----------
    of : str
        Attribute that is cut; dots separate nested attributes and positions, as in "values.shape.1".
    pieces : str or None
        Attribute with one entry per piece.
    """

    of: str
    pieces: str | None = None

    def check(self, thing: Any, values: Any, name: str) -> None:
        """Raise ValueError if offsets decrease or are out of range."""
        pieces = None if self.pieces is None else length_of(thing, self.pieces)
        check_offsets(values, length_of(thing, self.of), name, pieces=pieces)


class Indices(NamedTuple):
    """Annotation of indices into another attribute, named by ``of`` as in :class:`Offsets`."""

    of: str

    def check(self, thing: Any, values: Any, name: str) -> None:
        """Raise ValueError if indices are out of range."""
        check_indices(values, length_of(thing, self.of), name)


def length_of(thing: Any, path: str) -> int:
    """Return the length of an attribute, or the attribute itself if it is a number.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> part = SimpleNamespace(n_graphs=3, values=np.zeros((2, 5)))
    >>> length_of(part, "n_graphs"), length_of(part, "values"), length_of(part, "values.shape.1")
    (3, 2, 5)
    """
    for name in path.split("."):
        thing = thing[int(name)] if name.isdigit() else getattr(thing, name)
    return int(thing) if isinstance(thing, (int, np.integer)) else len(thing)


def require(fits: Any, clause: str) -> None:
    """Raise ValueError with a clause, unless a condition holds.

    Raises
    ------
    ValueError
    """
    if not fits:
        raise ValueError(clause)


def is_array(array: Any, kinds: str, ndim: int) -> bool:
    """Whether a value is an array with a dtype kind in ``kinds`` and ``ndim`` axes."""
    return isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.ndim == ndim


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a Python integer, at least ``least``."""
    return type(value) is int and value >= least


def not_negative(values: Any) -> bool:
    """Whether all numbers are finite and at least 0."""
    return bool((np.isfinite(values) & (values >= 0)).all())
