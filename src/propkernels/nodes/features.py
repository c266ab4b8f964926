"""NodeFeatures: propagated attributes, targets, codes and positional statistics, one row per node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import MOST_STREAMS, GraphInput, check_choice, check_integer, shown
from propkernels._utils.parallel import threaded
from propkernels._utils.randomness import draw_seed
from propkernels._utils.stored import SOMETIMES
from propkernels._utils.typing import Array, Column, Matrix, Seed, Target
from propkernels.convert.check import named_graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.nodes.inputs import NodeInputs, learn_inputs
from propkernels.nodes.known import KnownNodes
from propkernels.nodes.spreading import LABEL_STEPS, WALKS, Known, return_chances_of, target_hops
from propkernels.nodes.views import Block, Sheet
from propkernels.propagation.schemes import DIRECTIONS


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters:
    """Parameters of :class:`NodeFeatures`."""

    t_max: int = 3
    normalizations: Sequence[str] = ("row",)
    attributes: bool = True
    structure: bool = True
    targets: bool = True
    codes: bool = False
    direction: str = "both"
    random_state: Seed = None
    n_jobs: int | None = None


class NodeFeatures(FeatureParameters, GraphInput, TransformerMixin, BaseEstimator):
    """Features of the nodes of a graph, side by side.

    Attributes (with node labels) and positional statistics are propagated for t = 0..t_max steps; targets of
    known nodes for 1..4 steps, without a node's own target; codes of neighborhoods are hashed to columns.

    Parameters
    ----------
    t_max : int, default=3
        Steps of attributes and positional statistics.
    normalizations : sequence of {"row", "renormalized"}, default=("row",)
        Normalizations of the steps of attributes, see :class:`Diffusion`.
    attributes, structure, targets : bool, default=True
        Whether to include attributes and node labels, positional statistics, and propagated targets.
    codes : bool, default=False
        Whether to include codes of neighborhoods, as sparse columns; the result is then sparse.
    direction : {"both", "follow", "reverse"}, default="both"
        Direction in which walks cross directed edges.
    random_state : int, RandomState or None, default=None
        Seed of hash functions, and of the projection of wide attributes.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. Their number changes no bit.

    Attributes
    ----------
    classes_ : ndarray or None
        Classes of the target, if it holds classes; numbers are propagated as they are.

    See Also
    --------
    NodeClassifier : Chooses among such features.
    propkernels.nodes.CoincidingWalkKernel : Propagated targets only.

    References
    ----------
    .. [1] M. Neumann, R. Garnett and K. Kersting (2013). Coinciding walk kernels: parallel absorbing random
       walks for learning with graphs and few labels. Asian Conference on Machine Learning, 357-372.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> features = pk.nodes.NodeFeatures(t_max=1)
    >>> features.fit_transform(nx.path_graph(5), [0, -1, -1, -1, 1]).shape
    (5, 22)
    >>> features.get_feature_names_out()[:2].tolist()
    ['degree, step 0', 'triangles, step 0']
    """

    _inputs: NodeInputs
    classes_: Any
    n_targets_: int
    _n_features_out: Annotated[int, SOMETIMES]

    def fit(self, X: OneGraph, y: Target | None = None) -> Self:
        """Learn means, units and classes.

        Parameters
        ----------
        X : graph or GraphDatabase
            See :func:`propkernels.convert.check_graph`.
        y : array-like of shape (N,) or (N, columns), optional
            Target of each node with gaps, as in :class:`NodeClassifier`.
        """
        self._learn(*_read(X, y))
        return self

    def _learn(self, graphs: GraphDatabase, known: KnownNodes | None) -> None:
        check_integer(self.t_max, "t_max", 0, MOST_STREAMS)
        check_choice(self.direction, DIRECTIONS, "direction")
        if not isinstance(self.normalizations, (list, tuple)):
            raise TypeError(f"normalizations must be a list of names, got {shown(self.normalizations)}")
        for walk in self.normalizations:
            check_choice(walk, WALKS, "normalizations")
        for name in ("attributes", "structure", "targets", "codes"):
            check_choice(getattr(self, name), (True, False), name)
        if not (self.attributes or self.structure or self.targets or self.codes):
            raise ValueError("one of attributes, structure, targets and codes must be True")
        seed = draw_seed(self.random_state)
        self._inputs, _ = learn_inputs(graphs, self.direction, self.codes, seed % 2**32)
        self.classes_, self.n_targets_ = None, 0
        if known is not None and self.targets:
            target = known.target
            if target.dtype.kind != "f":
                self.classes_ = np.unique(target)
                self.n_targets_ = len(self.classes_)
            else:
                self.n_targets_ = target.shape[1] if target.ndim == 2 else 1

    def fit_transform(self, X: OneGraph, y: Target | None = None, **fit_params: Any) -> Matrix | csr_array:
        """Fit, and return the features of the training graph; known nodes do not see their own target."""
        graphs, known = _read(X, y)
        self._learn(graphs, known)
        return self._features(graphs, known)

    def transform(self, X: OneGraph, y: Target | None = None) -> Matrix | csr_array:
        """Return the features of all nodes of a graph.

        Parameters
        ----------
        X : graph or GraphDatabase
        y : array-like of shape (N,) or (N, columns), optional
            Known targets of this graph; without them, propagated targets are 0.

        Returns
        -------
        ndarray or csr_array of shape (N, features)
        """
        check_is_fitted(self, "_inputs")
        return self._features(*_read(X, y))

    def _blocks(self) -> list[Block]:
        blocks = []
        if self.attributes and self._inputs.attributes is not None:
            blocks += [Block("attributes", walk, self.t_max) for walk in self.normalizations]
        return blocks + ([Block("structure", last=self.t_max)] if self.structure else [])

    @threaded
    def _features(self, graphs: GraphDatabase, known: KnownNodes | None) -> Any:
        sheet, nodes, blocks = Sheet(graphs, self._inputs), np.arange(graphs.n_nodes), self._blocks()
        check_room(graphs.n_nodes, self._n_columns() + 1, 2)
        rows = sheet.at(nodes, blocks)
        parts = [rows.block(block, nodes, None) for block in blocks]
        if self.n_targets_:
            parts.append(self._target_columns(sheet, known))
        if not parts and not self.codes:
            raise ValueError(
                "the graph has nothing to propagate: set structure or codes, or give attributes or y"
            )
        if self.codes:
            return csr_array(hstack([*map(csr_array, parts), sheet.codes], format="csr"))
        return np.hstack(parts)

    def _n_columns(self) -> int:
        """Return the number of columns, which are as many as names."""
        steps = check_integer(self.t_max, "t_max", 0, MOST_STREAMS) + 1
        propagated = sum(steps * len(self._inputs.column_names(block.source)) for block in self._blocks())
        of_targets = LABEL_STEPS * (self.n_targets_ + 1) if self.n_targets_ else 0
        return propagated + of_targets + (self._inputs.n_codes if self.codes else 0)

    def _target_columns(self, sheet: Sheet, known: KnownNodes | None) -> Matrix:
        nodes = np.arange(sheet.graphs.n_nodes)
        if known is None:
            return np.zeros((len(nodes), LABEL_STEPS * (self.n_targets_ + 1)))
        spread = self._spread(known.target)
        returns = return_chances_of(sheet.walks, known.nodes, LABEL_STEPS)
        return target_hops(sheet.walks, Known(spread, known.nodes, returns)).columns("targets", nodes)

    def _spread(self, target: Array) -> Matrix:
        """Return the columns that are propagated: one per class, or numbers, a missing one being the mean."""
        if self.classes_ is not None and target.ndim == 1:
            return (target[:, None] == self.classes_).astype(np.float64)
        columns = np.asarray(target, dtype=np.float64).reshape(len(target), -1)
        if columns.shape[1] != self.n_targets_:
            raise ValueError(f"y has {columns.shape[1]} columns, and the one in fit had {self.n_targets_}")
        return np.where(np.isnan(columns), np.nanmean(columns, axis=0), columns)

    def get_feature_names_out(self, input_features: Column | None = None) -> Array:
        """Return the names of the columns."""
        check_is_fitted(self, "_inputs")
        check_room(self._n_columns(), 1, 8)  # a name takes about as much as eight numbers
        names: list[str] = []
        for block in self._blocks():
            walk = "" if block.walk == "row" or block.source == "structure" else f", {block.walk}"
            columns = self._inputs.column_names(block.source)
            names += [f"{column}{walk}, step {t}" for t in range(block.last + 1) for column in columns]
        if self.n_targets_:
            shown = [f"class {value}" for value in self.classes_] if self.classes_ is not None else ["target"]
            if self.classes_ is None and self.n_targets_ > 1:
                shown = [f"target {i}" for i in range(self.n_targets_)]
            names += [f"{name}, step {t}" for t in range(1, LABEL_STEPS + 1) for name in (*shown, "known")]
        if self.codes:
            names += [f"code {i}" for i in range(self._inputs.n_codes)]
        return np.array(names, dtype=object)


def _read(X: Any, y: Any) -> tuple[GraphDatabase, KnownNodes | None]:
    """Return a graph, and its nodes with a known target."""
    graphs, names = named_graph(X)
    return graphs, None if y is None else KnownNodes.of(y, None, graphs.n_nodes, names=names)
