"""Members of a model of nodes: decisions from weights of columns, or from landmarks, and their fits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from propkernels._utils.arrays import sum_in_order
from propkernels._utils.stored import NOT_FINITE, require
from propkernels._utils.typing import Matrix, Values
from propkernels.explain.rule import Member
from propkernels.models.least_squares import Linear
from propkernels.nodes.spreading import TargetHops
from propkernels.nodes.views import Block, Rows, Sheet, View

N_LANDMARKS = 1000
NODES_AT_ONCE = 4096  # whose features radial members compare with landmarks
LARGEST = 1e50  # of stored means, and of one over stored units
SMALLEST = 1e-10  # eigenvalues of landmarks and spans below this share of the largest are dropped


@dataclass(frozen=True)
class Scaling:
    """Standardization of features, learned from training nodes.

    Attributes
    ----------
    middle, unit : ndarray, (columns,)
        Summed columns have one common unit; codes have zeros and ones. The unit of constant columns is
        infinite: they become 0.
    """

    middle: Matrix
    unit: Annotated[Matrix, NOT_FINITE]

    def _check_parts(self) -> None:
        """Raise unless features divided by the units are numbers that can be squared."""
        fits = (np.abs(self.middle) <= LARGEST).all() and (self.unit >= 1 / LARGEST).all()
        require(bool(fits), "units are positive, and not too small")

    @classmethod
    def learn(cls, parts: list[Any], blocks: tuple[Block, ...]) -> Scaling:
        """Return means and units of all columns, such that rows have the mean square norm 1."""
        middles, units = [], []
        for part, block in zip(parts, blocks, strict=True):
            width = part.shape[1]
            if block.source == "codes":
                middles.append(np.zeros(width))
                units.append(np.ones(width))
                continue
            middle, spread = part.mean(axis=0), part.std(axis=0)
            middles.append(middle)
            if block.summed:
                size = np.linalg.norm(spread)
                units.append(np.full(width, size if size > 1e-9 else np.inf))
                continue
            constant = spread <= 1e-9 * np.maximum(np.abs(middle), 1e-9)
            units.append(np.where(constant, np.inf, spread * np.sqrt(np.sum(~constant))))
        common = np.sqrt(len(parts))
        return cls(np.concatenate(middles), common * np.concatenate(units))

    def apply(self, parts: list[Any]) -> Any:
        """Return scaled features of all blocks side by side."""
        if any(issparse(part) for part in parts):
            joined = hstack([csr_array(self._dense(parts, i)) for i in range(len(parts))], format="csr")
            return csr_array(joined)
        return (np.hstack(parts) - self.middle) / self.unit

    def _dense(self, parts: list[Any], i: int) -> Any:
        first = sum(part.shape[1] for part in parts[:i])
        part = slice(first, first + parts[i].shape[1])
        if issparse(parts[i]):  # codes have middle 0 and one unit
            return parts[i] / self.unit[first]
        return (parts[i] - self.middle[part]) / self.unit[part]


class Seen(NamedTuple):
    """What members see of the nodes of one graph: columns, propagated targets, and rows of radial views."""

    sheet: Sheet
    targets: TargetHops | None
    rows: Rows | None


class NodeMember(Member[Seen]):
    """Contribution of one view to the decisions about all nodes of a graph."""

    blocks: tuple[Block, ...]

    @abstractmethod
    def check_widths(self, widths: Sequence[int]) -> None:
        """Raise ValueError unless each block has as many columns as weights."""


@dataclass(frozen=True)
class LinearMember(NodeMember):
    """Weights of propagated columns.

    Attributes
    ----------
    blocks : tuple of Block
    weights : tuple of ndarray, (columns of the block, decisions)
    """

    blocks: tuple[Block, ...]
    weights: tuple[Matrix, ...]

    def _check_parts(self) -> None:
        """Raise unless each block has weights for all decisions."""
        fits = 0 < len(self.blocks) == len(self.weights) and all(w.ndim == 2 for w in self.weights)
        require(fits and len({w.shape[1] for w in self.weights}) == 1, "weights do not fit")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.weights[0].shape[1])

    def check_widths(self, widths: Sequence[int]) -> None:
        """Raise ValueError unless each block has as many columns as weights."""
        require([len(weights) for weights in self.weights] == list(widths), "blocks have other columns")

    def scaled(self, unit: float | Values) -> LinearMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, weights=tuple(unit * w for w in self.weights))

    def decide(self, seen: Seen) -> Matrix:
        """Return decisions without intercepts, (N, decisions)."""
        return seen.sheet.project(self.blocks, self.weights, seen.targets)


@dataclass(frozen=True)
class RadialMember(NodeMember):
    """Weights of similarities to landmarks, exp(-gamma |x - z|^2).

    Attributes
    ----------
    blocks : tuple of Block
    scaling : Scaling
    landmarks : ndarray, (landmarks, columns)
        Scaled features of some training nodes.
    gamma : float
    weights : ndarray, (landmarks, decisions)
    """

    blocks: tuple[Block, ...]
    scaling: Scaling
    landmarks: Matrix
    gamma: float
    weights: Matrix

    def _check_parts(self) -> None:
        """Raise unless landmarks, weights and scaling fit together."""
        require(self.landmarks.ndim == 2 == self.weights.ndim, "landmarks do not fit")
        n, width = self.landmarks.shape
        require(len(self.weights) == n, "weights do not fit")
        require(self.scaling.middle.shape == (width,) == self.scaling.unit.shape, "landmarks do not fit")

    def check_widths(self, widths: Sequence[int]) -> None:
        """Raise ValueError unless the blocks have as many columns as landmarks."""
        require(self.landmarks.shape[1] == sum(widths), "blocks have other columns")

    def decide(self, seen: Seen) -> Matrix:
        """Return decisions without intercepts, (N, decisions)."""
        rows, targets = seen.rows, seen.targets
        assert rows is not None
        nodes = np.arange(seen.sheet.graphs.n_nodes)
        runs = np.split(nodes, np.arange(NODES_AT_ONCE, len(nodes), NODES_AT_ONCE))
        parts = ([rows.block(block, run, targets) for block in self.blocks] for run in runs)
        scaled = (np.asarray(self.scaling.apply(part)) for part in parts)
        return np.vstack([radial(some, self.landmarks, self.gamma) @ self.weights for some in scaled])


@dataclass(frozen=True)
class NodeRule:
    """Decisions about nodes: the sum over members, and intercepts.

    Attributes
    ----------
    members : list of NodeMember
    intercepts : ndarray, (decisions,)
    """

    members: list[NodeMember]
    intercepts: Matrix

    def _check_parts(self) -> None:
        """Raise unless there are members, with one intercept per decision."""
        require(len(self.members) > 0, "a rule needs members")
        fits = {member.n_decisions for member in self.members} == {len(self.intercepts)}
        require(fits and self.intercepts.ndim == 1, "members have other decisions")

    @property
    def blocks(self) -> list[Block]:
        """Blocks of all members."""
        return [block for member in self.members for block in member.blocks]

    def decide(self, sheet: Sheet, targets: TargetHops | None) -> Matrix:
        """Return the decisions about all nodes, (N, decisions)."""
        return self.sums(sheet, targets) + self.intercepts

    def sums(self, sheet: Sheet, targets: TargetHops | None) -> Matrix:
        """Return decisions without intercepts; radial members share propagated columns."""
        blocks = [
            block for member in self.members if isinstance(member, RadialMember) for block in member.blocks
        ]
        rows = sheet.at(np.arange(sheet.graphs.n_nodes), blocks) if blocks else None
        return sum_in_order(member.decide(Seen(sheet, targets, rows)) for member in self.members)


def radial(rows: Matrix, landmarks: Matrix, gamma: float) -> Matrix:
    """Return exp(-gamma |x - z|^2) of all pairs."""
    values = rows @ landmarks.T
    values *= -2.0
    values += (rows**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1)
    np.maximum(values, 0.0, out=values)
    values *= -gamma
    return np.exp(values, out=values)


class ViewMap:
    """Scaled features of a view, in coordinates in which machines are fitted.

    Radial views become similarities to landmarks, whitened (Nyström's method). If there are more columns than
    training nodes, features are given in the space that the training nodes span, which changes no machine:
    these are dot products with the training nodes, whitened.
    """

    def __init__(self, view: View, parts: list[Any], seed: int) -> None:
        self.view, self.scaling = view, Scaling.learn(parts, view.blocks)
        scaled = self.scaling.apply(parts)
        self.widths = [part.shape[1] for part in parts]
        self.landmarks: Any = None  # nodes that all nodes are compared with
        self.back: Matrix | None = None
        if view.gamma:
            chosen = np.random.default_rng(seed).permutation(len(scaled))[:N_LANDMARKS]
            self.landmarks = scaled[np.sort(chosen)]
            self.back = _whitened(self._compared(self.landmarks))
        elif scaled.shape[0] < scaled.shape[1]:
            self.landmarks = scaled
            products = self._compared(scaled)
            self.back = _whitened(products)
            self.known: Any = products @ self.back
            return
        self.known = self._mapped(scaled)

    def rows(self, parts: list[Any]) -> Any:
        """Return the coordinates of other nodes."""
        return self._mapped(self.scaling.apply(parts))

    def _compared(self, scaled: Any) -> Matrix:
        """Return the similarities of nodes to the landmarks, or their dot products."""
        if self.view.gamma:
            return radial(scaled, self.landmarks, self.view.gamma)
        return _dense(scaled @ self.landmarks.T)

    def _mapped(self, scaled: Any) -> Any:
        return scaled if self.back is None else self._compared(scaled) @ self.back

    def member(self, machine: Linear) -> tuple[NodeMember, Matrix]:
        """Return the member of a machine fitted in these coordinates, and its intercepts."""
        weights = machine.coefficients if self.back is None else self.back @ machine.coefficients
        if self.view.gamma:
            kept = (self.scaling, self.landmarks, self.view.gamma)
            return RadialMember(self.view.blocks, *kept, weights), machine.intercepts
        if self.landmarks is not None:
            weights = np.asarray(self.landmarks.T @ weights)
        folded = weights / self.scaling.unit[:, None]
        pieces = np.split(folded, np.cumsum(self.widths)[:-1])
        member = LinearMember(self.view.blocks, tuple(np.ascontiguousarray(p) for p in pieces))
        return member, machine.intercepts - self.scaling.middle @ folded


def _dense(matrix: Any) -> Matrix:
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)


def _whitened(gram: Matrix) -> Matrix:
    """Return R with R R^T = K^+, the columns of K R being coordinates with the same dot products."""
    values, vectors = np.linalg.eigh(gram)
    if values[-1] <= 0:  # all rows are 0: one coordinate, which is 0 too
        return vectors[:, -1:]
    keep = values > SMALLEST * values[-1]
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))
