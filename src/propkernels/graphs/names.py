"""Names: words for node and edge labels, which tables, drawings and pages show instead of the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Names:
    """Display names of labels; kernels use the labels themselves.

    Attributes
    ----------
    labels : mapping
        Names of node labels, such as ``{0: "C", 1: "N"}``.
    edge_labels : mapping
        Names of edge labels, such as ``{0: "aromatic", 1: "single"}``.

    Examples
    --------
    >>> names = Names({0: "C"}, {1: "single"})
    >>> names.label(0), names.label(7), names.edge_label(1)
    ('C', '7', 'single')
    """

    labels: Mapping[Any, str] = field(default_factory=dict)
    edge_labels: Mapping[Any, str] = field(default_factory=dict)

    def label(self, value: Any) -> str:
        """Return the name of a node label; a label without a name is written as it is."""
        return str(self.labels.get(value, value))

    def edge_label(self, value: Any) -> str:
        """Return the name of an edge label; a label without a name is written as it is."""
        return str(self.edge_labels.get(value, value))

    @staticmethod
    def merge(several: Iterable[Names]) -> Names:
        """Return the names of several databases; the first name of a label counts."""
        labels: dict[Any, str] = {}
        edge_labels: dict[Any, str] = {}
        for names in several:
            labels = dict(names.labels) | labels
            edge_labels = dict(names.edge_labels) | edge_labels
        return Names(labels, edge_labels)
