"""NodeModel: the common base of models of nodes: choose views, fit, predict one graph or another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from html import escape
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice
from propkernels._utils.parallel import one_blas_thread, threaded
from propkernels._utils.stored import ANY_NUMBER, SOMETIMES, require
from propkernels._utils.typing import Array, Floats, Folding, Indices, Matrix, Seed, Target
from propkernels.convert.check import check_graph, named_graph, target_column
from propkernels.counts.entries import Vocabulary
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.models.choose import Problem, check_costs
from propkernels.models.folds import DEFAULT_FOLDS, Folds, choosing_folds, draw_seeds
from propkernels.models.model import Metric
from propkernels.models.targets import ClassTarget, NumberTarget
from propkernels.nodes.choosing import COSTS, Labeled, choose, fit_rule, some_of
from propkernels.nodes.contributions import Tallies
from propkernels.nodes.explanation import NodeExplanation, column_names
from propkernels.nodes.inputs import NodeInputs, learn_inputs
from propkernels.nodes.known import KnownNodes, node_numbers
from propkernels.nodes.members import NodeRule
from propkernels.nodes.spreading import Known, TargetHops, return_chances_of, target_hops
from propkernels.nodes.unlabeled import MOST_UNLABELED, shift_of
from propkernels.nodes.views import Sheet, default_views
from propkernels.novelty.applicability import Applicability, applicability_of, known_labels, warn_if_foreign
from propkernels.propagation.schemes import DIRECTIONS

FEW_HELD = 500  # validation nodes; fewer choose together with folds of the other labeled nodes


@dataclass(kw_only=True, eq=False, repr=False)
class NodeParameters:
    """Parameters of :class:`NodeClassifier` that the regressor has, too."""

    C: Floats = COSTS
    direction: str = "both"
    cv: Folding = None
    random_state: Seed = None
    n_jobs: int | None = None


class NodeModel(NodeParameters, GraphInput, BaseEstimator, ABC):
    """Base of models of nodes; subclasses define the target."""

    _inputs: NodeInputs
    _rule: NodeRule
    _blind_rule: NodeRule
    graph_: GraphDatabase
    nodes_: Annotated[NDArray[np.int64], ANY_NUMBER]
    _targets: NDArray[np.float64]
    decisions_: NDArray[np.float64]
    _neighborhoods: Vocabulary
    views_: list[str]
    _names: tuple[Hashable, ...] | None
    _target_column: str | None
    score_: Annotated[float, SOMETIMES]

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, below a line on what was learned."""
        html = str(super()._html_repr())
        if not hasattr(self, "views_"):
            return html
        views = ", ".join(self.views_)
        line = f"Learned from {len(self.nodes_)} nodes: {views}; score {self.score_:.2f} when held out."
        return f"<p>{escape(line)}</p>{html}"

    @abstractmethod
    def _learning_target(self, known: KnownNodes, weights: Any) -> tuple[Any, Matrix]:
        """Return the target of machines with its task, and the columns of targets that are propagated."""

    @abstractmethod
    def _keep_target(self, target: Any, held: Indices, decisions: Matrix) -> None:
        """Store what turns decisions into predictions, given those about held-out nodes."""

    @abstractmethod
    def _spread_of(self, target: NDArray[Any]) -> Matrix:
        """Return the columns of targets of another graph that are propagated."""

    @abstractmethod
    def _predictions(self, decisions: Matrix) -> Array:
        """Return the predictions of decisions."""

    @property
    @abstractmethod
    def _n_decisions(self) -> int:
        """Number of decisions about a node."""

    @property
    def transduction_(self) -> Array:
        """Prediction of each node of the training graph."""
        return self.predict()

    def fit(
        self,
        X: OneGraph,
        y: Target,
        *,
        validation: ArrayLike | None = None,
        nodes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose views, and learn from all labeled nodes.

        Parameters
        ----------
        X : graph or GraphDatabase
            See :func:`propkernels.convert.check_graph`; attributes may be sparse.
        y : array-like of shape (N,) or (N, columns), mapping, Series or str
            Class or number of each node, in order, or by name of the node (a dict, or a Series with names as
            index); or the column of the table of nodes. None and NaN mean unknown, and so does -1 among
            classes that are integers. Several columns are labels 0 and 1 of a classifier, or numbers of a
            regressor, with the same gaps. Names are those of a networkx graph, or keys of tables.
        validation : mask or sequence of names or numbers, optional
            Labeled nodes that only choose: machines are fitted to the other labeled nodes. Fewer than 500
            choose together with folds of the others.
        nodes : mask or sequence of names or numbers, optional
            Nodes that the entries of ``y`` belong to; by default all.
        sample_weight : array-like of shape (N,) or (nodes,), optional
            Weight of the errors of each entry of ``y``.

        Returns
        -------
        self
        """
        column = y if isinstance(y, str) else None
        graphs, names = named_graph(X, column)
        y = y if column is None else target_column(X, column)
        known = KnownNodes.of(y, nodes, graphs.n_nodes, is_classifier(self), names)
        target, spread = self._learning_target(known, known.weights(sample_weight, graphs.n_nodes, names))
        seeds = draw_seeds(self.random_state, 1)[0]
        held = None if validation is None else node_numbers(validation, graphs.n_nodes, "validation", names)
        folds, fitted = self._folds(target.values, known.nodes, held, seeds.inner)
        with one_blas_thread():
            judged, decisions = self._learn(graphs, known.nodes, target, spread, folds, fitted, seeds.kernel)
        self._keep_target(target, judged, decisions)
        self._target_column = column
        self._names = None if names is None or names == list(range(len(names))) else tuple(names)
        return self

    @threaded
    def _learn(
        self,
        graphs: GraphDatabase,
        nodes: Indices,
        target: ClassTarget | NumberTarget,
        spread: Matrix,
        folds: Folds,
        fitted: Indices,
        seed: int,
    ) -> tuple[Indices, Matrix]:
        """Choose views on held-out nodes, and fit them to the nodes at the places ``fitted``.

        Returns the places of held-out nodes, and decisions about them. Decisions move towards the shares of
        classes among unlabeled nodes, but not if nodes or classes have weights, which say what is wanted.
        """
        check_choice(self.direction, DIRECTIONS, "direction")
        costs = check_costs(self.C)
        inputs, structure = learn_inputs(graphs, self.direction, graphs.n_nodes > 0, seed)
        sheet = Sheet(graphs, inputs, structure)
        steps = sheet.walks.label_steps(nodes)
        views = [
            view for n in (spread.shape[1], 0) for view in default_views(inputs, graphs.n_nodes, steps, n)
        ]
        views = list(dict.fromkeys(views))
        problem = Problem(nodes, target.columns, target.strata, seed, target.weights)
        labeled = Labeled.gather(sheet, problem, spread, views)
        choice = choose(labeled, views, folds, costs, seed)
        final = labeled.at(fitted)
        (hops,) = final.hops([one.view for one in choice.chosen], [np.arange(len(fitted))])
        own = None if hops is None else hops.at(final.rows.nodes)
        rule, blind = fit_rule(final, choice.chosen, own, seed), fit_rule(final, choice.blind, None, seed)
        sums, held_out = rule.sums(sheet, hops), choice.held_out
        if isinstance(target, ClassTarget) and not target.multilabel and target.weights is None:
            unlabeled = some_of(np.setdiff1d(np.arange(graphs.n_nodes), nodes), MOST_UNLABELED, seed)
            shift = shift_of(
                held_out, target.values[choice.held], (sums + rule.intercepts)[unlabeled], len(target.classes)
            )
            rule, blind = (replace(one, intercepts=one.intercepts + shift) for one in (rule, blind))
            held_out = held_out + shift
        self._inputs, self._rule, self._blind_rule = inputs, rule, blind
        self.graph_, self.nodes_, self._targets = graphs, nodes[fitted], spread[fitted]
        self.decisions_, self.views_ = sums + rule.intercepts, [str(one.view) for one in choice.chosen]
        assert inputs.coder is not None
        codes = [np.unique(row) for block in sheet.streams for _, _, row in block.streams()]
        self._neighborhoods = Vocabulary(inputs.coder, codes)
        return choice.held, held_out

    def _folds(
        self, target: NDArray[Any], nodes: Indices, validation: Indices | None, seed: int
    ) -> tuple[Folds, Indices]:
        """Return the folds for the choice, and the places of the nodes that are fitted."""
        everyone, cv = np.arange(len(nodes)), DEFAULT_FOLDS if self.cv is None else self.cv
        if validation is None:
            folds = choosing_folds(target, cv, None, seed)  # none where each class has one node
            folds = folds or choosing_folds(np.zeros_like(target), cv, None, seed)
            if not folds:
                raise ValueError("only one node has a target: label at least two nodes")
            return folds, everyone
        held = np.isin(nodes, validation)
        if not held.any() or held.all():
            raise ValueError("validation must name some labeled nodes, and not all of them")
        fitted, alone = everyone[~held], ((everyone[~held], everyone[held]),)
        if held.sum() >= FEW_HELD:
            return alone, fitted
        inside = choosing_folds(target[fitted], cv if isinstance(cv, int) else DEFAULT_FOLDS, None, seed)
        return (*alone, *((fitted[train], fitted[test]) for train, test in inside)), fitted

    def predict(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Array:
        """Return the class or number of each node of the training graph, or of another graph.

        Parameters
        ----------
        X : graph, optional
            By default the training graph.
        y : array-like, optional
            Known targets of the nodes of ``X``, with gaps, as in ``fit``.
        nodes : mask or sequence of names or numbers, optional
            Without y, the nodes to decide about, by default all; with y, the nodes of its entries.
        """
        return self._predictions(self._decisions(X, y, nodes))

    @threaded
    def _decisions(self, X: Any, y: Any, nodes: Any) -> Matrix:
        """Return decisions of nodes of the fitted graph (None) or another one; without y, of ``nodes``."""
        check_is_fitted(self, "_rule")
        if X is None and y is not None:
            raise ValueError("y holds known targets of another graph: pass the graph, too")
        if X is None:
            return self.decisions_ if nodes is None else self.decisions_[self._chosen(nodes, "nodes")]
        graphs, names = named_graph(X, self._target_column)
        if (labels := known_labels(self.graph_, "node")) is not None:
            warn_if_foreign(labels, "node", graphs, 4)
        with one_blas_thread():
            sheet = Sheet(graphs, self._inputs)
            if y is None:
                every = self._blind_rule.decide(sheet, None)
                return every if nodes is None else every[node_numbers(nodes, len(every), "nodes", names)]
            known = KnownNodes.of(y, nodes, graphs.n_nodes, is_classifier(self), names)
            hops = self._hops(sheet, known.nodes, self._spread_of(known.target))
            return self._rule.decide(sheet, hops)

    def _hops(self, sheet: Sheet, nodes: Indices, spread: Matrix) -> TargetHops | None:
        """Return the propagated targets of known nodes, if members see them."""
        blocks = [block for block in self._rule.blocks if block.uses_targets]
        if not blocks:
            return None
        returns = return_chances_of(sheet.walks, nodes, max(block.last for block in blocks))
        return target_hops(sheet.walks, Known(spread, nodes, returns), sheet.between(blocks))

    def _chosen(self, nodes: Any, name: str) -> Indices:
        """Return the numbers of nodes of the training graph that a user names."""
        check_is_fitted(self, "_rule")
        several = nodes if np.iterable(nodes) and not isinstance(nodes, str) else [nodes]
        return node_numbers(several, self.graph_.n_nodes, name, self._names)

    @property
    def node_names_(self) -> list[Hashable]:
        """Names of the nodes of the training graph; their numbers, if they have no names."""
        return list(range(self.graph_.n_nodes)) if self._names is None else list(self._names)

    def _score(self, metric: Metric, X: Any, y: Any, sample_weight: Any) -> float:
        """Return a score of the nodes of a graph whose target is known."""
        predicted = self.predict(X)
        names: Any = self._names if X is None else named_graph(X, self._target_column)[1]
        y = target_column(X, y) if isinstance(y, str) else y
        known = KnownNodes.of(y, None, len(predicted), is_classifier(self), names)
        weights = known.weights(sample_weight, len(predicted), names)
        return metric(known.target, predicted[known.nodes], weights)

    @threaded
    def _explain(
        self, chosen: Indices, weights: Matrix, names: list[str], speaks_for: Any = None, against: Any = None
    ) -> NodeExplanation:
        """Return contributions to weighted sums of decisions, one row of weights per node."""
        with one_blas_thread():
            sheet = Sheet(self.graph_, self._inputs)
            tallies = Tallies(sheet, Known(self._targets, self.nodes_))
            found = [tallies.of(int(v), self._rule, w) for v, w in zip(chosen, weights, strict=True)]
        decisions = np.einsum("ij,ij->i", self.decisions_[chosen], weights)
        columns = column_names(self._inputs, names)
        return NodeExplanation(
            chosen, found, decisions, self.graph_, columns, speaks_for, against, self._names
        )

    @threaded
    def applicability(self, X: OneGraph | None = None) -> Applicability:
        """Return which neighborhoods of nodes did not occur in the training graph, per radius and node.

        Parameters
        ----------
        X : graph, optional
            By default the training graph, whose neighborhoods all occurred.

        Returns
        -------
        Applicability
        """
        check_is_fitted(self, "_rule")
        graphs = self.graph_ if X is None else check_graph(X)
        return applicability_of([self._neighborhoods], graphs)

    def _check_parts(self) -> None:
        """Raise unless every labeled node has a target and every node decisions."""
        if hasattr(self, "_rule"):
            n = self.graph_.n_nodes
            require(len(self.nodes_) == len(self._targets), "every labeled node needs a target")
            require(((self.nodes_ >= 0) & (self.nodes_ < n)).all(), "a labeled node is out of range")
            shape = (n, self._n_decisions)
            require(self.decisions_.shape == shape, "every node needs decisions")
            require(self._names is None or len(self._names) == n, "every node needs a name")
            require(self._targets.ndim == 2, "targets are columns")
            for rule in (self._rule, self._blind_rule):
                require(len(rule.intercepts) == self._n_decisions, "members have other decisions")
                for one in rule.members:
                    n_targets = self._targets.shape[1]
                    one.check_widths([block.width(self._inputs, n_targets) for block in one.blocks])
