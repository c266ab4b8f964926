"""One machine per column of a target with several columns, some of whose entries are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from propkernels.learn.machines.svm import Machine, MachineMaker, Weights

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class ColumnMaker:
    """Learns each column from the graphs that have it.

    Attributes
    ----------
    each : MachineMaker
        Learns one column.
    class_weight : dict, "balanced" or None
        Weights of the labels 0 and 1, see scikit-learn; "balanced" for each column by itself.
    """

    each: MachineMaker
    class_weight: Any = None
    pairwise = False

    @property
    def uses_features(self) -> bool:
        """Whether machines learn from features rather than kernel matrices."""
        return self.each.uses_features

    def quick(self) -> ColumnMaker:
        """Return one that may stop before it has converged."""
        return ColumnMaker(quick_maker(self.each), self.class_weight)

    def fit(self, known: Any, target: Matrix, cost: float, weights: Weights = None) -> Machine:
        """Learn from the kernel matrix or the features of some graphs."""
        columns = [self._column(known, column, cost, weights) for column in target.T]
        coefficients = np.column_stack([machine.coefficients[:, 0] for machine in columns])
        intercepts = np.array([machine.intercepts[0] for machine in columns])
        states = [(m.is_final, m.is_settled, m.is_nearly_final) for m in columns]
        return Machine(coefficients, intercepts, *(all(parts) for parts in zip(*states, strict=True)))

    def _column(self, known: Any, target: NDArray[np.float64], cost: float, weights: Weights) -> Machine:
        observed = np.flatnonzero(~np.isnan(target))
        n_rows = known.shape[1]  # training graphs, or columns of features
        values = target[observed]
        if len(observed) == 0 or (values == values[0]).all():
            return Machine(np.zeros((n_rows, 1)), np.array([self._constant(values)]), True)
        part = known[observed] if self.uses_features else known[np.ix_(observed, observed)]
        labels = values.astype(np.int64) if self._has_classes else values
        own = None if weights is None else weights[observed]
        if self.class_weight is not None:
            own = (1.0 if own is None else own) * compute_sample_weight(self.class_weight, labels)
        machine = self.each.fit(part, labels, cost, own)
        sign = -1.0 if self.each.pairwise else 1.0  # libsvm's pairs are positive for the first class
        coefficients = sign * machine.coefficients
        if not self.uses_features:
            coefficients = np.zeros((n_rows, 1))
            coefficients[observed] = sign * machine.coefficients
        return replace(machine, coefficients=coefficients, intercepts=sign * machine.intercepts)

    @property
    def _has_classes(self) -> bool:
        return not hasattr(self.each, "epsilon")

    def _constant(self, values: NDArray[np.float64]) -> float:
        """Decision where all observed values are the same, or none is observed."""
        first = float(values[0]) if len(values) else 0.0
        return (1.0 if first > 0 else -1.0) if self._has_classes else first


def quick_maker(maker: Any) -> Any:
    """Return a maker of the same machines that may stop before they have converged."""
    return maker.quick() if isinstance(maker, ColumnMaker) else replace(maker, is_quick=True)
