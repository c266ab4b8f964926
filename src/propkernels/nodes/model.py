"""NodeModel: the common base of models of nodes: choose views, fit, predict one graph or another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice
from propkernels._utils.parallel import one_blas_thread, threaded
from propkernels._utils.progress import LOG
from propkernels._utils.stored import ANY_NUMBER, SOMETIMES, require
from propkernels._utils.typing import Array, Floats, Folding, Seed, Target
from propkernels.convert.check import check_graph, named_graph, target_column
from propkernels.counts.entries import Vocabulary
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.models.choose import check_costs
from propkernels.models.folds import DEFAULT_FOLDS, Folds, choosing_folds, draw_seeds
from propkernels.models.targets import ClassTarget, NumberTarget
from propkernels.nodes.choosing import COSTS, Goal, Labeled, choose, fit_members
from propkernels.nodes.contributions import Tallies
from propkernels.nodes.explanation import NodeExplanation, column_names
from propkernels.nodes.inputs import NodeInputs, learn_inputs
from propkernels.nodes.known import KnownNodes, node_numbers
from propkernels.nodes.members import NodeMember, RadialMember, by_share, shifted
from propkernels.nodes.spreading import Known, TargetHops, return_chances_of, target_hops
from propkernels.nodes.unlabeled import fit_guessing_members, guessing_helps, shift_of
from propkernels.nodes.views import Sheet, default_views
from propkernels.novelty.applicability import Applicability, applicability_of
from propkernels.propagation.schemes import DIRECTIONS

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
MOST_LABELED = 0.25  # share of labeled nodes above which no classes are guessed
FEW_HELD = 500  # validation nodes; fewer choose together with folds of the other labeled nodes
LARGEST_POOL = 1500  # unlabeled nodes whose classes are guessed


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
    _members: list[NodeMember]
    _blind_members: list[NodeMember]
    graph_: GraphDatabase
    nodes_: Annotated[NDArray[np.int64], ANY_NUMBER]
    _targets: NDArray[np.float64]
    decisions_: NDArray[np.float64]
    _surroundings: Vocabulary
    views_: list[str]
    guesses_: bool
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
        target, spread = self._learning_target(known, known.weights(sample_weight))
        seeds = draw_seeds(self.random_state, 1)[0]
        held = None if validation is None else node_numbers(validation, graphs.n_nodes, "validation", names)
        folds, fitted = self._folds(target.strata, known.nodes, held, seeds.inner)
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

        Returns the places of held-out nodes, and decisions about them.
        """
        check_choice(self.direction, DIRECTIONS, "direction")
        costs, has_labels = check_costs(self.C), isinstance(target, ClassTarget)
        classes = target.values if isinstance(target, ClassTarget) and not target.multilabel else None
        goal = Goal(target.columns, classes, has_labels, target.weights)
        inputs, structure = learn_inputs(graphs, self.direction, graphs.n_nodes > 0, seed)
        sheet = Sheet(graphs, inputs, structure)
        steps = sheet.walks.label_steps(nodes)
        views = default_views(inputs, graphs.n_nodes, steps, spread.shape[1])
        tried = list(dict.fromkeys(views + default_views(inputs, graphs.n_nodes, steps, 0)))
        unlabeled = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(graphs.n_nodes), nodes))
        guesses = classes is not None and len(nodes) <= MOST_LABELED * graphs.n_nodes
        pool = np.sort(unlabeled[: LARGEST_POOL if guesses else 0])
        labeled = Labeled.gather(sheet, nodes, goal, spread, tried, pool)
        choice = choose(labeled, tried, folds, costs, seed)
        for arm in choice.arms:
            LOG.info("chosen of %d views for nodes: %s, C %g", len(tried), arm.view, arm.cost)
        guessed = None
        if len(pool) and len(choice.held):
            guessed = guessing_helps(labeled, choice, folds, seed)
        final = labeled.at(fitted)
        hops = final.hops_everywhere([arm.view for arm in choice.arms])
        own = None if hops is None else hops.at(final.rows.nodes)
        fit_arms = fit_members if guessed is None else fit_guessing_members
        fitted_arms, shares = fit_arms(final, choice.arms, own, seed), [arm.share for arm in choice.arms]
        members = by_share(fitted_arms, shares)
        blind = [i for i, member in enumerate(members) if not member.uses_targets]
        unseen = by_share([fitted_arms[i] for i in blind], [shares[i] for i in blind])
        unseen = unseen or fit_members(final, [choice.best_blind()], None, seed)
        sums = sums_of(members, sheet, hops)
        decisions = mean_of(members, sums)
        held_decisions = choice.held_decisions() if guessed is None else guessed
        if classes is not None and goal.weights is None:  # weights of nodes and classes are kept as they are
            shift = shift_of(held_decisions, classes[choice.held], decisions[unlabeled], classes.max() + 1)
            if shift is not None:
                members, unseen = ([shifted(one, shift) for one in some] for some in (members, unseen))
                held_decisions = held_decisions + shift
                # those of predict to the bit: sums of shifted members round differently than shifted sums
                decisions = mean_of(members, sums)
        self._inputs, self._members, self._blind_members = inputs, members, unseen
        self.graph_, self.nodes_, self._targets = graphs, nodes[fitted], spread[fitted]
        self.decisions_, self.guesses_ = decisions, guessed is not None
        assert inputs.coder is not None
        codes = [np.unique(row) for block in sheet.streams for _, _, row in block.streams()]
        self._surroundings = Vocabulary(inputs.coder, codes)
        self.views_, self.score_ = [str(arm.view) for arm in choice.arms], choice.score()
        return choice.held, held_decisions

    def _folds(
        self, target: NDArray[Any], nodes: Indices, validation: Indices | None, seed: int
    ) -> tuple[Folds, Indices]:
        """Return the folds for the choice, and the places of the nodes that are fitted."""
        everyone, cv = np.arange(len(nodes)), DEFAULT_FOLDS if self.cv is None else self.cv
        if validation is None:
            return choosing_folds(target, cv, None, seed), everyone
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
        check_is_fitted(self, "_members")
        if X is None and y is not None:
            raise ValueError("y holds known targets of another graph: pass the graph, too")
        if X is None:
            return self.decisions_ if nodes is None else self.decisions_[self._chosen(nodes, "nodes")]
        graphs, names = named_graph(X, self._target_column)
        with one_blas_thread():
            sheet = Sheet(graphs, self._inputs)
            if y is None:
                every = mean_decisions(self._blind_members, sheet, None)
                return every if nodes is None else every[node_numbers(nodes, len(every), "nodes", names)]
            known = KnownNodes.of(y, nodes, graphs.n_nodes, is_classifier(self), names)
            hops = self._hops(sheet, known.nodes, self._spread_of(known.target))
            return mean_decisions(self._members, sheet, hops)

    def _hops(self, sheet: Sheet, nodes: Indices, spread: Matrix) -> TargetHops | None:
        """Return the propagated targets of known nodes, if members see them."""
        blocks = [block for member in self._members for block in member.blocks if block.uses_targets]
        if not blocks:
            return None
        returns = return_chances_of(sheet.walks, nodes, max(block.last for block in blocks))
        return target_hops(sheet.walks, Known(spread, nodes, returns), sheet.between(blocks))

    def _chosen(self, nodes: Any, name: str) -> Indices:
        """Return the numbers of nodes of the training graph that a user names."""
        check_is_fitted(self, "_members")
        several = nodes if np.iterable(nodes) and not isinstance(nodes, str) else [nodes]
        return node_numbers(several, self.graph_.n_nodes, name, self._names)

    @property
    def node_names_(self) -> list[Hashable]:
        """Names of the nodes of the training graph; their numbers, if they have no names."""
        return list(range(self.graph_.n_nodes)) if self._names is None else list(self._names)

    def _score(self, metric: Callable[..., float], X: Any, y: Any, sample_weight: Any) -> float:
        """Return a score of the nodes of a graph whose target is known."""
        predicted = self.predict(X)
        names: Any = self._names if X is None else named_graph(X, self._target_column)[1]
        y = target_column(X, y) if isinstance(y, str) else y
        known = KnownNodes.of(y, None, len(predicted), is_classifier(self), names)
        weights = known.weights(sample_weight)
        return float(metric(known.target, predicted[known.nodes], sample_weight=weights))

    @threaded
    def _explain(
        self, chosen: Indices, weights: Matrix, names: list[str], speaks_for: Any = None, against: Any = None
    ) -> NodeExplanation:
        """Return contributions to weighted sums of decisions, one row of weights per node."""
        with one_blas_thread():
            sheet = Sheet(self.graph_, self._inputs)
            tallies = Tallies(sheet, Known(self._targets, self.nodes_))
            found = [tallies.of(int(v), self._members, w) for v, w in zip(chosen, weights, strict=True)]
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
        check_is_fitted(self, "_members")
        graphs = self.graph_ if X is None else check_graph(X)
        return applicability_of([self._surroundings], graphs)

    def _check_parts(self) -> None:
        """Raise unless every labeled node has a target and every node decisions."""
        if hasattr(self, "_members"):
            n = self.graph_.n_nodes
            require(len(self.nodes_) == len(self._targets), "every labeled node needs a target")
            require(((self.nodes_ >= 0) & (self.nodes_ < n)).all(), "a labeled node is out of range")
            require(self.decisions_.ndim == 2 and len(self.decisions_) == n, "every node needs decisions")
            require(self._names is None or len(self._names) == n, "every node needs a name")
            require(len(self._members) > 0 and len(self._blind_members) > 0, "a model needs members")
            members = (*self._members, *self._blind_members)
            widths = {len(one.intercepts) for one in members}
            wanted = {self._n_decisions}
            require(widths == {self.decisions_.shape[1]} == wanted, "members have other decisions")
            require(self._targets.ndim == 2, "targets are columns")
            for one in members:
                n_targets = self._targets.shape[1]
                one.check_widths([block.width(self._inputs, n_targets) for block in one.blocks])


def mean_decisions(members: Sequence[NodeMember], sheet: Sheet, hops: TargetHops | None) -> Matrix:
    """Return the mean decisions of members, (N, decisions)."""
    return mean_of(members, sums_of(members, sheet, hops))


def sums_of(members: Sequence[NodeMember], sheet: Sheet, hops: TargetHops | None) -> list[Matrix]:
    """Return the decisions of each member without its intercepts; radial ones share propagated columns."""
    blocks = [block for member in members if isinstance(member, RadialMember) for block in member.blocks]
    rows = sheet.at(np.arange(sheet.graphs.n_nodes), blocks) if blocks else None
    return [member.sums(sheet, hops, rows) for member in members]


def mean_of(members: Sequence[NodeMember], sums: Sequence[Matrix]) -> Matrix:
    """Return the mean decisions of members whose sums are known."""
    total = sums[0] + members[0].intercepts
    for member, values in zip(members[1:], sums[1:], strict=True):
        total += values + member.intercepts
    total /= len(members)
    return total
