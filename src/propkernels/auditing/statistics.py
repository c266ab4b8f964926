"""Targets of an audit, and statistics of graphs: sizes, degrees, components, labels and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from propkernels._utils.cells import EXACT, has_fractions
from propkernels._utils.locks import cached_property
from propkernels._utils.typing import LabelNames
from propkernels.explain.decisions import DecisionLayout
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import edges_of_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import label_text
from propkernels.models.targets import check_numbers, known_targets

Values = NDArray[Any]
MOST_LABELS = 30  # labels whose frequencies are listed
N_BARS = 20  # of a histogram
TIE_BREAK = 1e-6  # weight of squared errors beside the loss


@dataclass(frozen=True)
class Target:
    """One value per graph.

    Attributes
    ----------
    values : ndarray
        Class numbers 0, 1, ... (int64; -1: missing), or real numbers (float64; NaN: missing).
    classes : tuple of str
        Names of the classes; empty for regression.
    labels : tuple
        The class labels of the user.
    """

    values: NDArray[Any]
    classes: tuple[str, ...]
    labels: tuple[Any, ...] = ()

    @property
    def is_classes(self) -> bool:
        """Whether the target has classes; otherwise, it has numbers."""
        return bool(self.classes)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each graph has a target."""
        return np.asarray(self.values >= 0 if self.is_classes else ~np.isnan(self.values))

    def name(self, value: Any) -> str:
        """Return the name of a class, or a number with four digits."""
        if value < 0 if self.is_classes else np.isnan(value):
            return "no target"
        return self.classes[int(value)] if self.is_classes else f"{value:.4g}"

    def differs(self, graphs: list[int]) -> bool:
        """Return whether the known targets of some graphs differ."""
        return len(np.unique(self.values[graphs][self.known[graphs]])) > 1

    def take(self, positions: NDArray[Any]) -> Target:
        """Return the target of the graphs at the given positions."""
        return Target(self.values[positions], self.classes, self.labels)

    @cached_property
    def columns(self) -> NDArray[np.float64]:
        """Targets of least squares: 1 and -1 for classes, or the standardized numbers."""
        if not self.is_classes:
            return np.asarray((self.values - self.values.mean()) / self._unit)[:, None]
        positive = np.arange(len(self.classes))[1 if len(self.classes) == 2 else 0 :]
        return np.where(self.values[:, None] == positive, 1.0, -1.0)

    def predictions(self, decisions: NDArray[Any]) -> NDArray[Any]:
        """Return the predicted class numbers or real numbers."""
        if self.is_classes:
            return DecisionLayout(len(self.classes)).predictions(decisions)
        return np.asarray(decisions[:, 0] * self._unit + self.values.mean())

    @property
    def _unit(self) -> float:
        return float(self.values.std()) or 1.0

    def losses(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of each graph: 1 for a wrong class, or the squared error in standard deviations."""
        if self.is_classes:
            return (self.predictions(decisions) != self.values[places]).astype(np.float64)
        return np.asarray((decisions[:, 0] - self.columns[places, 0]) ** 2)

    def loss(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> float:
        """Return the mean loss for the choice of settings, with squared errors to break ties."""
        squares = float(np.square(decisions - self.columns[places]).mean())
        return float(self.losses(decisions, places).mean()) + TIE_BREAK * squares

    def score(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> float:
        """Return the accuracy, or R^2 against the mean of all graphs."""
        total = len(places) if self.is_classes else float(np.square(self.columns[places]).sum())
        return 1.0 - float(self.losses(decisions, places).sum()) / total if total else 0.0


def check_audit_target(
    target: Any, n_graphs: int, names: Sequence[str], like: Target | None = None
) -> Target:
    """Return a validated target: numbers if they have fractions, else classes.

    Parameters
    ----------
    target : array-like of shape (n,)
        Entries that are None or NaN are missing.
    n_graphs : int
    names : sequence of str
        Names of the classes, in the order of their sorted labels; may be empty.
    like : Target, optional
        Target of the training graphs, which determines the kind and the class numbers.
    """
    values = np.asarray(target)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"an audit takes one target per graph, got shape {values.shape}: select a column")
    if len(values) != n_graphs:
        raise ValueError(f"target has {len(values)} values for {n_graphs} graphs")
    known = known_targets(target if isinstance(target, np.ma.MaskedArray) else values, n_graphs)
    if has_fractions(known.target) if like is None else not like.is_classes:
        measured = np.full(n_graphs, np.nan)
        measured[known.places] = check_numbers(known.target, len(known.places), known.places)
        return Target(measured, ())
    distinct, numbers = np.unique(known.target, return_inverse=True)
    labels = tuple(distinct.tolist())
    if like is None:
        texts = names if len(names) == len(labels) else [str(label) for label in labels]
        like = Target(np.arange(0), tuple(texts), labels)
    strange = [label for label in labels if label not in like.labels]
    if strange:
        raise ValueError(f"the test graphs have a class {strange[0]!r} that no training graph has")
    classes = np.full(n_graphs, -1)
    classes[known.places] = np.array([like.labels.index(label) for label in labels])[numbers]
    return replace(like, values=classes)


@dataclass(frozen=True)
class Spread:
    """Quantiles and histogram of one number per graph or node.

    Attributes
    ----------
    least, median, most : float
    edges, counts : tuple
        Histogram: the edges of its bars (one more than bars), and the count of each bar.
    """

    least: float
    median: float
    most: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Values) -> Spread | None:
        """Return the spread of the finite values; None if there are none."""
        finite = np.asarray(values, dtype=np.float64)
        finite = finite[np.isfinite(finite)]
        if not finite.size:
            return None
        counts, edges = np.histogram(finite, bars(finite))
        least, median, most = np.quantile(finite, [0, 0.5, 1]).tolist()
        return cls(least, median, most, tuple(edges.tolist()), tuple(counts.tolist()))


def bars(values: Values) -> Values:
    """Return the edges of histogram bars; bars of integers are centered at integers.

    Examples
    --------
    >>> bars(np.array([2, 4, 3])).tolist()
    [1.5, 2.5, 3.5, 4.5]
    """
    low, high = float(values.min()), float(values.max())
    if np.array_equal(values, np.round(values)) and max(-low, high) < EXACT:
        width = max(1.0, np.ceil((high - low + 1) / N_BARS))
        return np.asarray(np.arange(low - 0.5, high + 0.5 + width, width))
    return np.linspace(low, high, N_BARS + 1)


@dataclass(frozen=True)
class LabelCounts:
    """Frequencies of labels, the most frequent first.

    Attributes
    ----------
    values : tuple of str
    counts : tuple of int
    n_texts, total : int
        Number of texts of labels (labels with several entries share that of the first), and of their nodes or
        edges; at most 30 texts are listed.
    missing : int
        Number of nodes or edges with an unobserved label.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    n_texts: int
    total: int
    missing: int

    @classmethod
    def of(cls, column: object, names: dict[Any, str], halved: bool = False) -> LabelCounts | None:
        """Return the frequencies of labels; ``halved``: each edge is stored in both directions.

        None without labels, and for label distributions.
        """
        if not isinstance(column, LabelColumn):
            return None
        stored = np.bincount(column.ids[column.observed], minlength=len(column.values))
        counts = (stored + 1) // 2 if halved else stored
        listed: dict[str, int] = {}
        for value, number in zip(column.values, counts.tolist(), strict=True):
            text = label_text(value, names)
            listed[text] = listed.get(text, 0) + number
        order = sorted((text for text in listed if listed[text]), key=lambda text: -listed[text])
        missing = int(np.count_nonzero(~column.observed))
        return cls(
            tuple(order[:MOST_LABELS]),
            tuple(listed[text] for text in order[:MOST_LABELS]),
            len(order),
            int(counts.sum()),
            (missing + 1) // 2 if halved else missing,
        )


@dataclass(frozen=True)
class AttributeRange:
    """One attribute: its spread, the number of missing values, and whether it is constant."""

    name: str
    spread: Spread | None
    missing: int
    constant: bool


@dataclass(frozen=True)
class TargetCounts:
    """Summary of the target.

    Attributes
    ----------
    kind : {"classes", "numbers"}
    classes, counts : tuple
        Names of the classes, and graphs per class.
    spread : Spread or None
        Spread of a regression target.
    missing : int
        Number of graphs without a target.
    """

    kind: str
    classes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    spread: Spread | None = None
    missing: int = 0

    @classmethod
    def of(cls, target: Target) -> TargetCounts:
        """Return the number of graphs per class, or the spread of the numbers."""
        missing = int(np.count_nonzero(~target.known))
        if not target.is_classes:
            return cls("numbers", spread=Spread.of(target.values), missing=missing)
        counts = np.bincount(target.values[target.known], minlength=len(target.classes))
        return cls("classes", target.classes, tuple(counts.tolist()), missing=missing)


@dataclass(frozen=True)
class Statistics:
    """Statistics of all graphs.

    Attributes
    ----------
    n_graphs, n_nodes, n_edges : int
    nodes, edges, degrees, components : Spread or None
        Nodes, edges and components of a graph, and neighbors of a node.
    empty_graphs, disconnected_graphs, isolated_nodes : int
    node_labels, edge_labels : LabelCounts or None
    node_attributes, edge_attributes : tuple of AttributeRange
    target : TargetCounts or None
    typical, extreme : tuple of (int, str)
        Graphs to draw, and the reason.
    """

    n_graphs: int
    n_nodes: int
    n_edges: int
    nodes: Spread | None
    edges: Spread | None
    degrees: Spread | None
    components: Spread | None
    empty_graphs: int
    disconnected_graphs: int
    isolated_nodes: int
    node_labels: LabelCounts | None
    edge_labels: LabelCounts | None
    node_attributes: tuple[AttributeRange, ...]
    edge_attributes: tuple[AttributeRange, ...]
    target: TargetCounts | None
    typical: tuple[tuple[int, str], ...]
    extreme: tuple[tuple[int, str], ...]


def statistics_of(graphs: GraphDatabase, target: Target | None, label_names: LabelNames) -> Statistics:
    """Compute the statistics of all graphs."""
    edges, neighbors = edges_of_graphs(graphs), np.diff(graphs.adjacency.indptr)
    components = np.zeros(len(graphs), dtype=np.int64)
    if graphs.n_nodes:
        number, component = connected_components(graphs.adjacency, directed=False)
        owner = np.empty(number, dtype=np.int64)
        owner[component] = graphs.graph_ids
        components = np.bincount(owner, minlength=len(graphs))
    touched = np.zeros(graphs.n_nodes, dtype=bool)
    touched[graphs.adjacency.indices] = True
    return Statistics(
        n_graphs=len(graphs),
        n_nodes=graphs.n_nodes,
        n_edges=int(edges.sum()),
        nodes=Spread.of(graphs.graph_sizes),
        edges=Spread.of(edges),
        degrees=Spread.of(neighbors),
        components=Spread.of(components),
        empty_graphs=int(np.count_nonzero(graphs.graph_sizes == 0)),
        disconnected_graphs=int(np.count_nonzero(components > 1)),
        isolated_nodes=int(np.count_nonzero((neighbors == 0) & ~touched)),
        node_labels=LabelCounts.of(graphs.label_column, dict(label_names or graphs.names.labels)),
        edge_labels=LabelCounts.of(
            graphs.edge_label_column, dict(graphs.names.edge_labels), not graphs.directed_graphs.any()
        ),
        node_attributes=_ranges(graphs.node_attributes, None),
        edge_attributes=_ranges(graphs.edge_attributes, graphs.edge_attribute_names),
        target=None if target is None else TargetCounts.of(target),
        typical=typical_graphs(graphs.graph_sizes, edges),
        extreme=extreme_graphs(graphs, edges, components, neighbors),
    )


def _ranges(table: Values | None, names: tuple[str, ...] | None) -> tuple[AttributeRange, ...]:
    ranges = []
    for i, column in enumerate(() if table is None else table.T):
        observed = column[~np.isnan(column)]
        is_constant = observed.size > 0 and bool((observed == observed[0]).all())
        title = str(names[i]) if names else f"attribute {i}"
        missing = int(np.isnan(column).sum())
        ranges.append(AttributeRange(title, Spread.of(column), missing, is_constant))
    return tuple(ranges)


def typical_graphs(sizes: Values, edges: Values, n: int = 2) -> tuple[tuple[int, str], ...]:
    """Return the n graphs nearest to the median numbers of nodes and edges, in interquartile ranges."""
    table = np.column_stack([sizes, edges]).astype(np.float64)
    unit = np.maximum(np.subtract(*np.quantile(table, [0.75, 0.25], axis=0)), 1.0)
    distance = np.abs((table - np.median(table, axis=0)) / unit).sum(axis=1)
    return tuple((int(i), "typical") for i in np.argsort(distance, kind="stable")[:n])


def extreme_graphs(
    graphs: GraphDatabase, edges: Values, components: Values, neighbors: Values
) -> tuple[tuple[int, str], ...]:
    """Return the graphs with extreme sizes, density, number of components and degree, and the reasons."""
    sizes = graphs.graph_sizes
    if sizes.min() == sizes.max() and edges.min() == edges.max():  # such as images of one size
        return ()
    reasons = {int(np.argmin(sizes)): "fewest nodes"}
    reasons.setdefault(int(np.argmax(sizes)), "most nodes")
    reasons.setdefault(int(np.argmax(edges / np.maximum(sizes, 1))), "most edges per node")
    if components.max() > 1:
        reasons.setdefault(int(np.argmax(components)), f"most components ({components.max()})")
    if neighbors.size:
        reasons.setdefault(int(graphs.graph_ids[np.argmax(neighbors)]), f"largest degree ({neighbors.max()})")
    return tuple(reasons.items())
