"""Live: a trained model and a graph that changes under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.codes.codes import CodeStreams
from propkernels.convert.check import check_graph
from propkernels.explain.members import Counted
from propkernels.graphs.accepted import OneGraph
from propkernels.tracking.live import ChangingGraph, LiveGraph


class Live(ChangingGraph):
    """A graph that changes, with the decision of a model, returned by ``live`` of a model.

    A change costs as much as the nodes within t_max steps, whose codes are updated. Decisions, codes and
    explanations equal those of the changed graph from scratch, to the bit.

    Attributes
    ----------
    n_nodes : int
        Number of nodes.
    graph : GraphDatabase
        The graph as it is now.
    decision : float or ndarray
        As ``decision_function`` of a classifier, or ``predict`` of a regressor, returns for this graph.
    codes : list of list of CodeStreams
        Codes of all nodes, for each distinct kernel of the model.

    See Also
    --------
    PropagationClassifier : ``live`` of a trained model returns this.
    PropagationClassifier.counterfactuals : Which changes would change the decision.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> model = pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    >>> live = model.live(data.graphs[0])
    >>> live.set_label(0, "N")
    >>> live.decision == model.decision_function(live.graph)[0]
    np.True_
    """

    def __init__(self, model: Any, graph: OneGraph) -> None:
        if not model.rule_.compares_bins:
            raise TypeError(
                f"{type(model.kernel_).__name__} compares whole graphs: a live graph needs a kernel of counts"
            )
        if getattr(model, "imputer_", None) is not None:
            raise TypeError("a model that imputes labels has no live graphs: labels depend on all nodes")
        self._model = model
        self._live = LiveGraph(check_graph(graph), [v.counter for v in model.rule_.vocabularies])

    @property
    def codes(self) -> list[list[CodeStreams]]:
        """Codes of all nodes, for each distinct kernel of the model."""
        return [self._live.codes(v.counter) for v in self._model.rule_.vocabularies]

    @property
    def decision(self) -> float | NDArray[np.float64]:
        """The decision of the model about the graph as it is now."""
        rule = self._model.rule_
        known = {v: self._live.entries(v) for v in rule.vocabularies}
        decisions = rule.decide(Counted(self.graph, None, known)) + self._model.intercept_
        scores: NDArray[np.float64] = self._model._shown(decisions)[0]
        return scores[0] if len(scores) == 1 else scores

    def predict(self) -> Any:
        """Return the class, or the number, that the model predicts for the graph as it is now."""
        return self._model.predict(self.graph)[0]

    def explain(self, **options: Any) -> Any:
        """Return the contributions of the nodes, as ``explain`` of the model does."""
        return self._model.explain(self.graph, **options)
