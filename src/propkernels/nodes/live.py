"""LiveNodes: a trained model of nodes, and a graph that changes under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.cells import is_missing
from propkernels._utils.checks import shown
from propkernels._utils.typing import Array
from propkernels.codes.codes import CodeStreams
from propkernels.graphs.database import GraphDatabase
from propkernels.nodes.known import node_numbers
from propkernels.nodes.one_node import KnownTargets, WalksFrom
from propkernels.nodes.views import Sheet
from propkernels.tracking.live import ChangingGraph, LiveGraph

if TYPE_CHECKING:
    from propkernels.nodes.model import NodeModel

Matrix = NDArray[np.float64]


class LiveNodes(ChangingGraph):
    """A graph that changes, with the decisions of a model about its nodes, returned by ``live`` of a model.

    Edges, labels and known targets change; the model stays. Codes of surroundings are updated at the cost of
    what a change touches, and equal those of the changed graph from scratch to the bit, so models whose views
    are codes decide to the bit. Other columns follow the walks from the nodes that are asked about: their
    decisions equal those from scratch up to rounding (1e-10). Positional statistics are computed anew after a
    change.

    Attributes
    ----------
    n_nodes : int
    graph : GraphDatabase
        The graph as it is now.
    codes : list of CodeStreams
        Codes of all nodes.

    See Also
    --------
    NodeClassifier : ``live`` of a trained model returns this.
    propkernels.models.Live : The same for models of graphs.

    Examples
    --------
    >>> import networkx as nx, numpy as np, propkernels as pk
    >>> y = np.array([0, 0, -1, -1, -1, -1, 1, 1])
    >>> graph = nx.path_graph(8)
    >>> live = pk.NodeClassifier(random_state=0).fit(graph, y).live()
    >>> live.add_edge(2, 7)
    >>> live.set_target(5, 1)
    >>> live.predict([2, 3]).shape
    (2,)
    """

    def __init__(self, model: NodeModel, graphs: GraphDatabase, known: KnownTargets) -> None:
        inputs = model._inputs
        assert inputs.coder is not None
        self._model, self._inputs, self._coder = model, inputs, inputs.coder
        self._live = LiveGraph(graphs, [inputs.coder])
        has_labels = inputs.attributes is not None and inputs.attributes.labels  # labels may change
        self._attributes = None if has_labels else Sheet(graphs, inputs, None).own_columns()
        self._known = known
        self._walks: tuple[GraphDatabase, KnownTargets, WalksFrom] | None = None

    @property
    def codes(self) -> list[CodeStreams]:
        """Codes of all nodes."""
        return self._live.codes(self._coder)

    def set_target(self, node: int, target: object) -> None:
        """Set the target of a node, or remove it (None, NaN); predictions of others use it from now on."""
        if np.ndim(node) or isinstance(node, (bool, np.bool_)):
            raise TypeError(f"a node is a whole number, got {shown(node)}")
        (number,) = node_numbers(np.atleast_1d(node), self.n_nodes, "node")
        kept = self._known.nodes != number
        nodes, spread = self._known.nodes[kept], self._known.spread[kept]
        if not is_missing([target]).all():
            nodes = np.append(nodes, number)
            spread = np.vstack([spread, self._model._spread_of(np.array([target]))])
        self._known = KnownTargets(nodes, spread)

    def decisions(self, nodes: ArrayLike) -> Matrix:
        """Return the decisions of the model about nodes of the graph as it is now, (nodes, decisions)."""
        chosen, walks = node_numbers(np.atleast_1d(nodes), self.n_nodes, "nodes"), self._current()
        model, has_targets = self._model, len(self._known.nodes) > 0
        members = model._members if has_targets else model._blind_members
        found = [walks.decide(members, int(node)) for node in chosen]
        return np.vstack([np.empty((0, model._n_decisions)), *found])

    def predict(self, nodes: ArrayLike) -> Array:
        """Return the prediction of the model for nodes of the graph as it is now."""
        return self._model._predictions(self.decisions(nodes))

    def _current(self) -> WalksFrom:
        """Return the walks of the graph as it is now, kept until something changes."""
        graph, known = self.graph, self._known
        if self._walks is None or self._walks[0] is not graph or self._walks[1] is not known:
            sheet = Sheet(graph, self._inputs, None, attributes=self._attributes, streams=self.codes)
            self._walks = (graph, known, WalksFrom(sheet, known))
        return self._walks[2]
