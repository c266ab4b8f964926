"""NodeExplanation: decisions about nodes as sums over neighbors, columns and steps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer, format_number, format_table
from propkernels._utils.typing import Array, Matrix, Record
from propkernels.graphs.database import GraphDatabase
from propkernels.nodes.contributions import Tally
from propkernels.nodes.inputs import NodeInputs

MOST_DRAWN = 60  # nodes of a drawn neighborhood


@dataclass(frozen=True, eq=False, repr=False)
class NodeExplanation:
    """Contributions that add up to decisions about nodes, returned by ``explain`` of a model of nodes.

    The same sum is given twice: by the node where a contribution comes from (and the number of steps), and by
    column: attribute, node label, positional statistic, target of known nodes, or code of neighborhoods.

    Attributes
    ----------
    nodes : ndarray of int64
        The explained nodes.
    tallies : list of Tally
        Contributions per explained node.
    decisions : ndarray of shape (nodes,)
        The decisions of the model.
    graph : GraphDatabase
    columns : dict
        Names of the columns of each source.
    speaks_for, against : Any
        Class favored by positive contributions of each node, and the class whose decision is subtracted
        (None: none is); None for regression.
    names : sequence or None
        Name of each node of the graph; None: nodes are called by their numbers.

    See Also
    --------
    NodeClassifier : ``NodeClassifier.explain`` returns this.
    propkernels.explain.Explanation : The same for graphs.

    References
    ----------
    .. [1] M. Sundararajan, A. Taly and Q. Yan (2017). Axiomatic attribution for deep networks. International
       Conference on Machine Learning, 3319-3328. Radial views only; others are sums as they stand.

    Examples
    --------
    >>> import networkx as nx, numpy as np, propkernels as pk
    >>> club = nx.karate_club_graph()
    >>> y = np.full(34, -1)
    >>> y[[0, 1, 2, 31, 32, 33]] = [0, 0, 0, 1, 1, 1]
    >>> model = pk.NodeClassifier(random_state=0).fit(nx.to_scipy_sparse_array(club), y)
    >>> explanation = model.explain([8, 9])
    >>> sums = [part.sum() for part in explanation.by_neighbor(0).values()]
    >>> bool(abs(sum(sums) + explanation.intercepts[0] - explanation.decisions[0]) < 1e-9)
    True
    """

    nodes: NDArray[np.int64]
    tallies: Sequence[Tally]
    decisions: Matrix
    graph: GraphDatabase
    columns: dict[str, list[str]]
    speaks_for: object = None
    against: object = None
    names: Sequence[Hashable] | None = None

    @property
    def intercepts(self) -> Matrix:
        """Intercept of each decision."""
        return np.array([tally.intercept for tally in self.tallies])

    def by_neighbor(self, i: int) -> dict[int, Matrix]:
        """Return, per step, the contribution of each node of the graph to the i-th explained decision."""
        return self.tallies[i].by_neighbor

    def neighbor_totals(self, i: int) -> Matrix:
        """Return the contribution of each node of the graph, summed over steps."""
        return np.asarray(np.sum(list(self.tallies[i].by_neighbor.values()), axis=0))

    def step_totals(self, i: int) -> dict[int, float]:
        """Return the contribution of each step."""
        return {t: float(values.sum()) for t, values in sorted(self.tallies[i].by_neighbor.items())}

    def by_column(self, i: int) -> dict[str, float]:
        """Return the contribution of each column, summed over neighbors and steps, largest size first."""
        totals: dict[str, float] = {}
        for (source, _), values in self.tallies[i].by_column.items():
            for name, value in zip(self.columns[source], values, strict=True):
                if value:
                    totals[name] = totals.get(name, 0.0) + float(value)
        return dict(sorted(totals.items(), key=lambda item: -abs(item[1])))

    def records(self, i: int, n: int = 10) -> list[Record]:
        """Return the n neighbors with the largest contributions: node, distance in steps, contribution."""
        totals = self.neighbor_totals(i)
        order = np.argsort(-np.abs(totals), kind="stable")[: check_integer(n, "n", 1)]
        steps = self.by_neighbor(i)
        return [
            {
                "node": self._name(node),
                "step": min((t for t, values in steps.items() if values[node]), default=0),
                "contribution": float(totals[node]),
            }
            for node in order.tolist()
            if totals[node]
        ]

    def table(self, i: int = 0, n: int = 10) -> str:
        """Return a text table of the strongest neighbors and columns of the i-th explained node."""
        rows = [
            [_called(r["node"]), f"first at step {r['step']}", f"{format_number(r['contribution'])}"]
            for r in self.records(i, n)
        ]
        named = list(self.by_column(i).items())[:n]
        rows += [[name, "column", format_number(value)] for name, value in named]
        rows += [[name, "", format_number(value)] for name, value in self._sums(i)]
        return format_table(["from", "where", "adds"], rows)

    def _sums(self, i: int) -> list[tuple[str, float]]:
        """Return the intercept and the decision by name."""
        return [("intercept", float(self.intercepts[i])), ("decision", float(self.decisions[i]))]

    def neighborhood(self, i: int, n: int = MOST_DRAWN) -> tuple[GraphDatabase, NDArray[np.int64]]:
        """Return the explained node with the nodes that add most and lie within two steps, as a graph.

        Returns
        -------
        graph : GraphDatabase
        nodes : ndarray of int64
            Number of each of its nodes in the whole graph; the explained node is the first.
        """
        center, adjacency = int(self.nodes[i]), self.graph.adjacency
        near = adjacency[[center]].indices
        further = np.unique(adjacency[near].indices) if len(near) else near
        around = np.setdiff1d(np.union1d(near, further), [center])
        size = np.abs(self.neighbor_totals(i)[around])
        is_near = np.isin(around, near)
        order = np.lexsort((around, -size, ~is_near))[: check_integer(n, "n", 1) - 1]
        nodes = np.concatenate([[center], around[order]]).astype(np.int64)
        part = adjacency[nodes][:, nodes]
        return GraphDatabase(part, [0, len(nodes)]), nodes

    def draw(self, i: int = 0, *, size: tuple[int, int] = (480, 340), n: int = MOST_DRAWN) -> str:
        """Return an SVG drawing of the neighborhood, red where a node adds to the decision, blue against."""
        from propkernels.graphs.drawing import graph_svg

        part, nodes = self.neighborhood(i, n)
        values = self.neighbor_totals(i)[nodes]
        sums = ", ".join(f"{name} {format_number(value)}" for name, value in self._sums(i))
        title = f"contributions to the decision about {_called(self._name(int(self.nodes[i])))}: {sums}"
        return graph_svg(part[0], values=values, marked=[0], size=size, title=title)

    def _name(self, node: int) -> Hashable:
        return node if self.names is None else self.names[node]

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Drawing, Table, show_result

        shown = [Drawing(self.draw(i)) for i in range(min(len(self.nodes), 3))]
        rows: list[list[Any]] = [[r["node"], r["step"], f"{r['contribution']:+.4g}"] for r in self.records(0)]
        rows += [[name, None, format_number(value)] for name, value in self._sums(0)]
        return show_result(repr(self), *shown, Table(["node", "first step", "adds"], rows))

    def __repr__(self) -> str:
        count = len(self.nodes)
        noun = "1 node" if count == 1 else f"{count} nodes"
        words = "" if self.speaks_for is None else f", for {_classes(self.speaks_for)}"
        return f"NodeExplanation({noun}{words})"


def _called(name: Hashable) -> str:
    return name if isinstance(name, str) else f"node {name}"


def _classes(classes: Any) -> str:
    names = list(dict.fromkeys(np.atleast_1d(classes).tolist()))
    return f"class {names[0]}" if len(names) == 1 else f"{len(names)} classes"


def column_names(inputs: NodeInputs, targets: Array | list[str]) -> dict[str, list[str]]:
    """Return the names of the columns of each source."""
    attributes = [] if inputs.attributes is None else inputs.attributes.names()
    return {
        "attributes": attributes,
        "structure": list(inputs.structure.names),
        "targets": [*(f"target {name}" for name in targets), "known targets"],
        "crossed": [
            *(f"target {name}, by neighbors' attributes" for name in targets),
            "known, by attributes",
        ],
        "codes": ["codes of neighborhoods"],
    }
