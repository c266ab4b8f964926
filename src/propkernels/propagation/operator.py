"""The affine step that all random-walk schemes share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True)
class AffineOperator:
    """One step of a scheme that is affine in P, for a whole database:

    ``P'_i = spread_i * sum_j A_ij P_j + keep_i * P_i + restart_i * (P_0)_i``

    Since it acts on nodes and not on labels, it commutes with the projection of a hash: the engine
    runs it on ``P_0 v`` instead of on ``P_0`` (design, section 3.2).

    Attributes
    ----------
    adjacency : csr_array
        A, with its weights.
    spread, keep : ndarray, (N,)
        Weight of the neighbours' sum, and of the node itself.
    restart : ndarray, (N,), or None
        Weight of the node's initial distribution.
    pushed_back : ndarray of bool, (N,), or None
        Nodes that are reset to P_0 before each step (label push-back read literally, Eq. LP).
    vanished : ndarray of bool, (N,), or None
        Nodes that are not counted from t = 1 on.
    """  # noqa: D400

    adjacency: csr_array
    spread: NDArray[np.float64]
    keep: NDArray[np.float64]
    restart: NDArray[np.float64] | None = None
    pushed_back: NDArray[np.bool_] | None = None
    vanished: NDArray[np.bool_] | None = None

    def step(self, current: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the formula to any columns: label probabilities or projections of them."""
        from propkernels.propagation.compiled import affine_step

        if self.pushed_back is not None:
            current = np.where(self.pushed_back[:, None], initial, current)
        current = np.ascontiguousarray(current, dtype=np.float64)
        following = np.empty_like(current)
        a = self.adjacency
        affine_step(a.indptr, a.indices, a.data, self.spread, self.keep, current, following)
        if self.restart is not None:
            following += self.restart[:, None] * initial
        return following
