"""What classes say about their own state, so that storage can check objects from a file without a table.

A savable class says three things, all beside its fields:

- the annotations of its fields, or of what ``fit`` learns, are the types that values must have;
- an array of whole numbers is annotated with what it points to, :class:`Offsets` or :class:`Indices`, or as
  :data:`ANY_NUMBER`: compiled loops believe offsets and indices;
- ``check_parts`` refuses parts that do not fit together, by :func:`require`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.arrays import check_indices, check_offsets

ANY_NUMBER = "any number"  # hashes, and numbers of iterations, which are only shown and compared
SOMETIMES = "sometimes"  # learned by some versions, or with some parameters


class Offsets(NamedTuple):
    """Offsets cut something into pieces.

    Attributes
    ----------
    of : str
        Attribute that is cut; dots lead to attributes of attributes, "values.shape.1" to a number.
    pieces : str or None
        Attribute that has one entry per piece.
    """

    of: str
    pieces: str | None = None

    def check(self, thing: Any, values: Any, name: str) -> None:
        """Refuse offsets that fall, or that lead elsewhere."""
        pieces = None if self.pieces is None else length_of(thing, self.pieces)
        check_offsets(values, length_of(thing, self.of), name, pieces=pieces)


class Indices(NamedTuple):
    """Positions in something; ``of`` names the attribute, as in :class:`Offsets`."""

    of: str

    def check(self, thing: Any, values: Any, name: str) -> None:
        """Refuse positions that lead elsewhere."""
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
    """Refuse an object whose parts do not fit together; the clause says which.

    Raises
    ------
    ValueError
    """
    if not fits:
        raise ValueError(clause)


def is_array(array: Any, kinds: str, ndim: int) -> bool:
    """Whether something is an array of one of some kinds ("f", "i", ...), with so many axes."""
    return isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.ndim == ndim


def is_whole(value: Any, least: int) -> bool:
    """Whether something is a Python integer from ``least`` on."""
    return type(value) is int and value >= least


def not_negative(values: Any) -> bool:
    """Whether all numbers are finite and have square roots."""
    return bool((np.isfinite(values) & (values >= 0)).all())
