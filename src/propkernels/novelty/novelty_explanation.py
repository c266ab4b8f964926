"""NoveltyExplanation: rarity as a sum over nodes and iterations, and which surroundings were seen."""

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
    """What makes graphs rare, as returned by ``NoveltyDetector.explain``.

    Attributes
    ----------
    contributions : ndarray of shape (nodes, t_max + 1)
        What each node adds to the rarity of its graph at each iteration, in nats; never negative but for
        rounding.
    seen : ndarray of shape (nodes, t_max + 1)
        1 where the node's bin occurs in training, 0 where it does not; the share of its bins where it has
        several.
    numbers : ndarray of shape (nodes, t_max + 1)
        How often the bin occurs in training; the mean where there are several.
    graph_ptr, graphs
        As in :class:`Explanation`.

    See Also
    --------
    NoveltyDetector : Its ``explain`` returns this.
    plot_explanation : Draws it.

    References
    ----------
    .. [1] R. E. Krichevsky and V. K. Trofimov (1981). The performance of universal encoding. IEEE
       Transactions on Information Theory 27 (2), 199-207. doi:10.1109/TIT.1981.1056331.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> detector = pk.NoveltyDetector(score="rarity", random_state=0).fit(graphs[:50])
    >>> explanation = detector.explain(graphs[50:])
    >>> bool(abs(explanation.decisions + detector.score_samples(graphs[50:])).max() < 1e-9)
    True
    >>> bool(explanation.seen[:, 0].all())
    True
    """

    seen: Values = field(default_factory=_nothing)
    numbers: Values = field(default_factory=_nothing)

    @property
    def unseen_nodes(self) -> NDArray[np.int64]:
        """For each node, the first iteration at which its surroundings were never seen; -1: all were."""
        unseen = self.seen < 1
        return np.where(unseen.any(axis=1), unseen.argmax(axis=1), -1).astype(np.int64)

    @property
    def subject(self) -> str:
        """What positive contributions speak for, in words."""
        return "for novelty"

    @property
    def quantity(self) -> str:
        """What contributions add up to."""
        return "rarity"

    def _record(self, graph: int, node: int) -> dict[str, Any]:
        at = int(self.graph_ptr[graph]) + node
        return {**super()._record(graph, node), "first_unseen_t": int(self.unseen_nodes[at])}
