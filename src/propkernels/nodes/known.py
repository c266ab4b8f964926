"""Labeled nodes: targets with gaps, and node numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.cells import is_missing
from propkernels._utils.checks import shown
from propkernels._utils.typing import Indices

Names = Sequence[Hashable] | None


@dataclass(frozen=True)
class KnownNodes:
    """Labeled nodes and their targets.

    Attributes
    ----------
    nodes : ndarray of int64
    target : ndarray
        One class, number, or row of labels per labeled node.
    entries : ndarray of int64
        Entry of y of each labeled node.
    """

    nodes: Indices
    target: NDArray[Any]
    entries: Indices

    @classmethod
    def of(
        cls, y: Any, nodes: Any, n_nodes: int, integers_may_miss: bool = True, names: Names = None
    ) -> KnownNodes:
        """Return the labeled nodes of a target with gaps (None, NaN, masked, -1 among integers).

        Several columns become rows of numbers, in which single entries may be NaN.

        Parameters
        ----------
        y : array-like, mapping or Series
            One entry per node, or per node of ``nodes``; or by name (without names: by number).
        nodes : mask or sequence of names or numbers, or None
        n_nodes : int
        integers_may_miss : bool
            Whether -1 among integers means missing.
        names : sequence, or None
            Name of each node.
        """
        if nodes is None:
            nodes, y = _by_name(y, n_nodes, names)
        places = np.arange(n_nodes) if nodes is None else node_numbers(nodes, n_nodes, "nodes", names)
        values = _array(y)
        if values.ndim not in (1, 2) or len(values) != len(places):
            raise ValueError(f"y has shape {values.shape} for {len(places)} nodes: give one entry per node")
        if values.ndim == 2:
            values = _rows(values, integers_may_miss)
        gaps = _gaps(values, integers_may_miss)
        if gaps.all():
            raise ValueError(f"the target of all {len(places)} nodes is missing: label at least two nodes")
        entries = np.flatnonzero(~gaps)
        entries = entries[np.argsort(places[entries], kind="stable")]  # the order of entries must not matter
        twice = np.flatnonzero(np.diff(places[entries]) == 0)
        if len(twice):
            raise ValueError(f"nodes has node {places[entries[twice[0]]]} twice: give one target per node")
        known = np.asarray(values[entries])
        if known.dtype == object and known.ndim == 1:
            known = np.array(known.tolist())
        return cls(places[entries], known, entries)

    def weights(self, sample_weight: Any, n_nodes: int, names: Names = None) -> Any:
        """Return the weights of the labeled nodes, from one per entry of y, or by name; None for None."""
        keys, given = _by_name(sample_weight, n_nodes, names)
        if keys is not None:
            by_node = dict(
                zip(node_numbers(keys, n_nodes, "sample_weight", names).tolist(), given, strict=True)
            )
            without = [node for node in self.nodes.tolist() if node not in by_node]
            if without:
                called = without[0] if names is None else names[without[0]]
                raise ValueError(f"sample_weight has no weight for the node {shown(called)}")
            return np.array([by_node[node] for node in self.nodes.tolist()])
        weights = _array(sample_weight, "sample_weight")
        if sample_weight is None or weights.ndim == 0:
            return sample_weight
        if len(weights) <= self.entries.max():
            raise ValueError(f"sample_weight has {len(weights)} entries: give one per entry of y")
        return weights[self.entries]


def _by_name(values: Any, n_nodes: int, names: Names) -> tuple[list[Any] | None, Any]:
    """Return the nodes that keys of a mapping, or the index of a Series, name, and their values.

    None in place of nodes: values are in the order of all nodes, as are those with pandas' usual index.
    """
    if isinstance(values, Mapping):
        return list(values), list(values.values())
    if not hasattr(values, "iloc") or type(values.index).__name__ == "RangeIndex":
        return None, values
    index, known = values.index.tolist(), set(range(n_nodes) if names is None else names)
    is_other = names is None or index == list(range(len(index)))
    return None if is_other and not known.issuperset(index) else index, values.to_numpy()


def _array(values: Any, name: str = "y") -> Any:
    """Return a target or weights as an array; raise an error if entries have different lengths."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    try:
        return np.asarray(values)
    except ValueError:
        got = shown(values)
        raise ValueError(f"{name} must hold one entry per node, or rows of equal length; got {got}") from None


def _rows(values: Any, integers_may_miss: bool) -> NDArray[np.float64]:
    """Return rows of labels or numbers, NaN where an entry is missing (None, masked, -1 among integers)."""
    missing = np.ma.getmaskarray(values)
    if integers_may_miss and np.asarray(values).dtype.kind == "i":
        missing = missing | (np.asarray(values) == -1)
    try:
        return np.where(missing, np.nan, np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"several columns of y must be numbers or missing, got {shown(values)}") from None


def _gaps(values: Any, integers_may_miss: bool) -> NDArray[np.bool_]:
    """Return which rows have no target."""
    if values.ndim == 2:
        return np.asarray(np.isnan(values).all(axis=1))
    gaps = np.asarray(is_missing(values), dtype=bool)
    is_integer = integers_may_miss and np.asarray(values).dtype.kind == "i"
    return np.asarray(gaps | (np.asarray(values) == -1), dtype=bool) if is_integer else gaps


def node_numbers(nodes: Any, n_nodes: int, name: str, names: Names = None) -> Indices:
    """Return the numbers of nodes that a mask, names or numbers choose.

    Integers are numbers where no name is an integer. A mask may be a mapping, or a Series with names.
    """
    keys, marks = _by_name(nodes, n_nodes, names)
    if keys is not None and np.asarray(marks).dtype == bool:
        nodes = [key for key, mark in zip(keys, marks, strict=True) if mark]
    try:
        array = np.asarray(nodes)
    except ValueError:  # entries of different lengths
        array = object_array(list(nodes))
    if array.dtype == bool:
        if array.shape != (n_nodes,):
            raise ValueError(f"{name} is a mask of shape {array.shape} for {n_nodes} nodes")
        return np.flatnonzero(array)
    are_numbers = array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iu")
    if names is not None and not (are_numbers and not any(isinstance(one, int) for one in names)):
        return _named(nodes, name, names)
    if not are_numbers:
        raise TypeError(
            f"{name} must be a mask or a sequence of node numbers, got {shown(nodes)}: the nodes of this "
            "graph have no names"
        )
    if array.size and not (array.min() >= 0 and array.max() < n_nodes):
        raise ValueError(f"{name} has a node number outside 0..{n_nodes - 1}")
    return array.astype(np.int64)


def _named(nodes: Any, name: str, names: Sequence[Hashable]) -> Indices:
    """Return the numbers of nodes with these names."""
    number = {one: i for i, one in enumerate(names)}
    wanted = [one.item() if isinstance(one, np.generic) else one for one in nodes]
    unknown = [one for one in wanted if not isinstance(one, Hashable) or one not in number]
    if unknown:
        raise ValueError(
            f"{name} has the node {shown(unknown[0])}, which the graph does not have; its nodes are "
            f"{shown(list(names))}"
        )
    return np.array([number[one] for one in wanted], dtype=np.int64)
