"""Names: words for node labels, edge labels and classes, which tables, drawings and pages show."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Number
from typing import Any

Pairs = dict[str, list[list[Any]]]  # names as lists, for files


@dataclass(frozen=True)
class Names:
    """Display names of labels and classes; kernels and models use the labels and classes themselves.

    Attributes
    ----------
    labels : mapping
        Names of node labels, such as ``{0: "C", 1: "N"}``.
    edge_labels : mapping
        Names of edge labels, such as ``{0: "aromatic", 1: "single"}``.
    classes : mapping
        Names of the classes of graphs, such as ``{0: "blocked", 1: "passes"}``.

    Examples
    --------
    >>> names = Names({0: "C"}, {1: "single"}, {1: "passes"})
    >>> names.label(0), names.label(7), names.edge_label(1), names.class_name(1), names.class_name(0)
    ('C', '7', 'single', 'passes', 'class 0')
    """

    labels: Mapping[Any, str] = field(default_factory=dict)
    edge_labels: Mapping[Any, str] = field(default_factory=dict)
    classes: Mapping[Any, str] = field(default_factory=dict)

    def label(self, value: Any) -> str:
        """Return the name of a node label; a label without a name as :func:`label_text` writes it."""
        return label_text(value, self.labels)

    def edge_label(self, value: Any) -> str:
        """Return the name of an edge label; a label without a name is written as it is."""
        return str(self.edge_labels.get(value, value))

    def class_name(self, value: Any) -> str:
        """Return the name of a class; a class without a name is written as "class 1"."""
        name = str(self.classes.get(value, value))
        return f"class {value}" if value not in self.classes or name.isdigit() else name

    def to_pairs(self) -> Pairs | None:
        """Return names as lists of a value and its name, by kind, for files; None if there are none.

        Names of values other than numbers, texts and tuples of them are left out.
        """
        pairs = {part.name: _pairs(getattr(self, part.name)) for part in fields(self)}
        return pairs if any(pairs.values()) else None

    @staticmethod
    def from_pairs(pairs: Any) -> Names:
        """Return the names of the lists of a file, which is not trusted; None: no names.

        Raises
        ------
        ValueError
            If a name is not a text, or a value not a number, a text or a list of them.
        """
        if pairs is None:
            return Names()
        kinds = {part.name for part in fields(Names)}
        if not isinstance(pairs, Mapping) or not set(pairs) <= kinds:
            raise ValueError(f"names must be lists by kind, of {sorted(kinds)}")
        return Names(**{kind: dict(map(_pair, several)) for kind, several in pairs.items()})

    @staticmethod
    def merge(several: Iterable[Names]) -> Names:
        """Return the names of several databases; the first name of a label counts."""
        merged: dict[str, dict[Any, str]] = {part.name: {} for part in fields(Names)}
        for names in several:
            for kind, known in merged.items():
                merged[kind] = dict(getattr(names, kind)) | known
        return Names(**merged)


def label_text(value: Any, names: Mapping[Any, str] | None = None) -> str:
    """Return the name of a node label; without a name, the label itself, or the first of several entries.

    Examples
    --------
    >>> label_text(0, {0: "C"}), label_text(7), label_text(("N", (2, 3, 7), "donor")), label_text((1, 2))
    ('C', '7', 'N', '(1, 2)')
    """
    if names and value in names:
        return str(names[value])
    has_entries = isinstance(value, tuple) and len(value) > 1 and isinstance(value[0], str)
    if has_entries and not any(isinstance(entry, Number) for entry in value):
        return str(value[0])
    return str(value)


def _pairs(names: Mapping[Any, str]) -> list[list[Any]]:
    plain = ((getattr(value, "item", lambda v=value: v)(), str(name)) for value, name in names.items())
    return [[value, name] for value, name in plain if _is_plain(value)]


def _pair(pair: Any) -> tuple[Hashable, str]:
    if not isinstance(pair, Sequence) or len(pair) != 2 or not isinstance(pair[1], str):
        raise ValueError("names must be pairs of a value and a text")
    return _value(pair[0]), pair[1]


def _value(value: Any) -> Hashable:
    """Return a label or class of a file: lists become tuples."""
    if isinstance(value, (list, tuple)):
        return tuple(_value(part) for part in value)
    if not _is_plain(value):
        raise ValueError(f"a {type(value).__name__} cannot have a name")
    return value


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a text, None, or a tuple of them."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))
