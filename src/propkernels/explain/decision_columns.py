"""Decision columns: one per class, a single one for two classes, or one per label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class DecisionLayout:
    """Meaning of decision columns.

    Attributes
    ----------
    n_classes : int
        Number of classes; 0 for numbers.
    multilabel : bool
        One column per label, positive if the graph has the label. Otherwise one column per class, whose
        largest one is predicted; with two classes a single column that is positive for the second class.
    """

    n_classes: int
    multilabel: bool = False

    def check_classes(self, classes: Any) -> None:
        """Raise ValueError unless classes of a stored model are those of the decisions."""
        require(np.ndim(classes) == 1 and self.n_classes == len(classes) >= 2, "classes differ")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return 1 if self.n_classes == 2 and not self.multilabel else self.n_classes

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Return the class number of each row; with several labels, 0 or 1 per label."""
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        return by_class(decisions).argmax(axis=1)

    def margins(self, decisions: Matrix) -> Matrix:
        """Return how far each class is ahead of its strongest rival: (graphs, classes).

        With several labels, (graphs, labels, 2): the margins of 0 and of 1.

        Examples
        --------
        >>> DecisionLayout(3).margins(np.array([[0.5, 2.0, -1.0]]))
        array([[-1.5,  1.5, -3. ]])
        """
        if self.multilabel:
            return np.stack([-decisions, decisions], axis=2)
        if self.n_classes == 2:
            return np.hstack([-decisions, decisions])
        ordered = np.sort(decisions, axis=1)
        is_first = np.arange(self.n_classes) == decisions.argmax(axis=1)[:, None]
        return decisions - np.where(is_first, ordered[:, -2:-1], ordered[:, -1:])


def by_class(decisions: Matrix) -> Matrix:
    """Return one column per class; the single column f of two classes becomes -f and f."""
    return np.hstack([-decisions, decisions]) if decisions.shape[1] == 1 else decisions


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if not hasattr(kernel, "self_similarities"):
        raise TypeError(f"{type(kernel).__name__} has no method self_similarities for k(x, x) of new graphs")
    diagonal = kernel.self_similarities(graphs)
    return (diagonal > 0).astype(np.float64) if kernel.normalize else np.asarray(diagonal, dtype=np.float64)
