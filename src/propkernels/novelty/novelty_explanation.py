"""NoveltyExplanation: what a graph does not share with the nearest training graphs, by node and iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explain.explanation import Explanation

Values = NDArray[np.float64]


def _nothing() -> Values:
    return np.empty((0, 0))


@dataclass(frozen=True, eq=False, repr=False)
class NoveltyExplanation(Explanation):
    """Contributions of nodes to the novelty of graphs, returned by ``NoveltyDetector.explain``.

    Attributes
    ----------
    contributions : ndarray of shape (nodes, t_max + 1)
        Neighborhoods of each node that the nearest training graph has not, iteration by iteration, as shares
        of all neighborhoods of both graphs; not negative.
    descriptor_terms : ndarray of shape (graphs,)
        What the nearest training graph has and the graph has not, which belongs to no node.
    seen : ndarray of shape (nodes, t_max + 1)
        1 if the node's bin occurs in any training graph, else 0; the share of its bins if it has several.
    graph_ptr, graphs
        As in :class:`~propkernels.explain.Explanation`.

    See Also
    --------
    NoveltyDetector : Its ``explain`` returns this.
    propkernels.plotting.plot_explanation : Draws it.

    References
    ----------
    .. [1] P. Willett, J. M. Barnard and G. M. Downs (1998). Chemical similarity searching. Journal of
       Chemical Information and Computer Sciences 38 (6), 983-996. doi:10.1021/ci9800211.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> detector = pk.NoveltyDetector(random_state=0).fit(graphs[:50])
    >>> explanation = detector.explain(graphs[50:])
    >>> bool(abs(explanation.decisions + detector.score_samples(graphs[50:])).max() < 1e-9)
    True
    >>> bool(explanation.seen[:, 0].all())
    True
    """

    seen: Values = field(default_factory=_nothing)

    @property
    def unseen_nodes(self) -> NDArray[np.int64]:
        """First iteration at which each node's neighborhood is unseen; -1 if all are seen."""
        unseen = self.seen < 1
        return np.where(unseen.any(axis=1), unseen.argmax(axis=1), -1).astype(np.int64)

    @property
    def subject(self) -> str:
        """The meaning of positive contributions, in words."""
        return "for novelty"

    @property
    def quantity(self) -> str:
        """Name of the quantity that contributions add up to."""
        return "novelty"

    @property
    def is_signed(self) -> bool:
        """Whether contributions may be negative: not those to novelty."""
        return False

    def key(self, nodes: str = "nodes") -> str:
        """Return the meaning of colors in drawings, as a sentence about ``nodes``, such as "atoms"."""
        return f"Darker {nodes} have neighborhoods that the nearest training graph has not."

    def _record(self, graph: int, node: int) -> dict[str, Any]:
        at = int(self.graph_ptr[graph]) + node
        return {**super()._record(graph, node), "first_unseen_t": int(self.unseen_nodes[at])}
