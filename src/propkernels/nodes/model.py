"""NodeModel: the common base of models of nodes: choose views, fit, predict one graph or another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_integer
from propkernels._utils.parallel import one_blas_thread
from propkernels._utils.stored import ANY_NUMBER, SOMETIMES, require
from propkernels.convert.check import check_graph
from propkernels.counting.entries import Vocabulary
from propkernels.decisions.support_vectors import stopping_allowed
from propkernels.decisions.tasks import Task
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.nodes.choosing import Choice, Labeled, choose, fit_members
from propkernels.nodes.contributions import Known, Tallies
from propkernels.nodes.edge_edits import find_edge_edits
from propkernels.nodes.explanation import NodeExplanation, column_names
from propkernels.nodes.guessing import fit_guessing, guessing_helps
from propkernels.nodes.inputs import NodeInputs, learn_inputs
from propkernels.nodes.known import KnownNodes, node_numbers
from propkernels.nodes.members import NodeMember
from propkernels.nodes.spreading import TargetHops, return_chances_of, target_hops
from propkernels.nodes.views import Sheet, default_views
from propkernels.novelty.applicability import Applicability, applicability_of
from propkernels.propagation.schemes import DIRECTIONS
from propkernels.selection.candidates import check_costs
from propkernels.selection.folds import Folds, Seeds, choosing_folds

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
MOST_LABELED = 0.25  # share of labeled nodes above which no classes are guessed
LARGEST_POOL = 1500  # unlabeled nodes whose classes are guessed


@dataclass(frozen=True)
class Learned:
    """Everything learned by fit.

    Attributes
    ----------
    inputs : NodeInputs
    choice : Choice
    members : list
        Members whose decisions are averaged.
    blind : list
        Members that see no targets, for graphs without any.
    decisions : ndarray, (N, decisions)
        Decisions of all nodes of the training graph.
    held_decisions : ndarray, (held-out nodes, decisions)
    guesses : bool
        Whether machines also learned from guessed classes of unlabeled nodes.
    """

    inputs: NodeInputs
    choice: Choice
    members: list[NodeMember]
    blind: list[NodeMember]
    decisions: Matrix
    held_decisions: Matrix
    guesses: bool


class NodeModel(GraphInput, BaseEstimator, ABC):
    """Base of models of nodes; subclasses define the target."""

    inputs_: NodeInputs
    members_: list[NodeMember]
    blind_members_: list[NodeMember]
    graph_: GraphDatabase
    nodes_: Annotated[NDArray[np.int64], ANY_NUMBER]
    targets_: NDArray[np.float64]
    decisions_: NDArray[np.float64]
    surroundings_: Vocabulary
    views_: list[str]
    guesses_: bool
    score_: Annotated[float, SOMETIMES]
    views: Any
    C: Any
    direction: str
    scoring: Any
    cv: Any
    random_state: Any
    n_jobs: int | None

    @abstractmethod
    def _spread_of(self, target: NDArray[Any]) -> Matrix:
        """Return the columns of targets of another graph that are propagated."""

    def _learn(
        self,
        graphs: GraphDatabase,
        nodes: Indices,
        target: NDArray[Any],
        spread: Matrix,
        folds: Folds,
        fitted: Indices,
        task: Task,
        maker: Any,
        seeds: Seeds,
    ) -> Learned:
        """Choose views on held-out nodes, and fit them to the nodes at the places ``fitted``."""
        check_choice(self.direction, DIRECTIONS, "direction")
        costs = check_costs(self.C)
        inputs, structure = learn_inputs(graphs, self.direction, graphs.n_nodes > 0, seeds.kernel)
        sheet = Sheet(graphs, inputs, self.n_jobs, structure)
        steps = sheet.walks.label_steps(nodes)
        views = default_views(inputs, graphs.n_nodes, steps, spread.shape[1])
        blind = default_views(inputs, graphs.n_nodes, steps, 0)
        tried = list(dict.fromkeys(views + blind))
        pool = self._pool(graphs.n_nodes, nodes, target, task, seeds.kernel)
        labeled = Labeled.gather(sheet, nodes, target, spread, tried, pool)
        choice = choose(labeled, tried, folds, task, maker, costs, seeds.kernel)
        guessed = None
        if len(pool) and len(choice.held):
            guessed = guessing_helps(labeled, choice, folds, task, maker, seeds.kernel)
        final = _part(labeled, fitted)
        own_task = task.reweighted(None if task.weights is None else task.weights[fitted])
        if guessed is None:
            members = fit_members(final, choice.arms, own_task, maker, seeds.kernel, target)
        else:
            settings = (np.arange(len(final.nodes)), own_task.weights, maker, seeds.kernel, target)
            fitted_arms = fit_guessing(final, choice.arms, *settings)
            members = [view_map.member(machine) for view_map, machine in fitted_arms]
        sighted = any(member.uses_targets for member in members)
        unseen = [m for m in members if not m.uses_targets]
        if sighted and not unseen:
            best = min((a for a in choice.all_arms if not a.view.uses_targets), key=lambda a: a.mean_loss)
            unseen = fit_members(final, [best], own_task, maker, seeds.kernel, target)
        hops = final.hops(np.arange(len(final.nodes))) if sighted else None
        decisions = mean_decisions(members, sheet, hops)
        held = choice.held_decisions() if guessed is None else guessed
        return Learned(inputs, choice, members, unseen, decisions, held, guessed is not None)

    @staticmethod
    def _pool(n_nodes: int, nodes: Indices, target: NDArray[Any], task: Task, seed: int) -> Indices:
        """Return unlabeled nodes whose classes may be guessed: none if many nodes are labeled."""
        is_class = target.ndim == 1 and target.dtype.kind in "iu"
        if not is_class or not task.is_additive or len(nodes) > MOST_LABELED * n_nodes:
            return np.arange(0)
        rest = np.setdiff1d(np.arange(n_nodes), nodes)
        return np.sort(np.random.default_rng(seed).permutation(rest)[:LARGEST_POOL])

    def _keep(self, learned: Learned, graphs: GraphDatabase, nodes: Indices, spread: Matrix) -> None:
        """Store the learned state."""
        self.inputs_, self.members_, self.blind_members_ = learned.inputs, learned.members, learned.blind
        self.graph_, self.nodes_, self.targets_ = graphs, nodes, spread
        self.decisions_ = learned.decisions
        assert learned.inputs.coder is not None
        streams = learned.inputs.coder.codes(graphs, self.n_jobs)
        codes = [np.unique(row) for block in streams for _, _, row in block.streams()]
        self.surroundings_ = Vocabulary(learned.inputs.coder, codes)
        self.views_ = [str(arm.view) for arm in learned.choice.arms]
        self.guesses_ = learned.guesses

    def _folds(
        self, target: NDArray[Any], nodes: Indices, validation: Any, n_nodes: int, seed: int
    ) -> tuple[Folds, Indices]:
        """Return the folds for the choice, and the places of the nodes that are fitted."""
        everyone = np.arange(len(nodes))
        if validation is None:
            return choosing_folds(target, self.cv, None, seed), everyone
        held = np.isin(nodes, node_numbers(validation, n_nodes, "validation"))
        if not held.any() or held.all():
            raise ValueError("validation must name some labeled nodes, and not all of them")
        return ((everyone[~held], everyone[held]),), everyone[~held]

    def _decisions(self, X: Any, y: Any, nodes: Any) -> Matrix:
        """Return decisions of all nodes of the fitted graph (None), or of another one."""
        check_is_fitted(self, "members_")
        if X is None:
            return self.decisions_
        graphs = check_graph(X)
        with stopping_allowed(), one_blas_thread():
            sheet = Sheet(graphs, self.inputs_, self.n_jobs)
            if y is None:
                return mean_decisions(self.blind_members_, sheet, None)
            known = KnownNodes.of(y, nodes, graphs.n_nodes)
            return mean_decisions(self.members_, sheet, self._hops(sheet, known))

    def _own_decisions(self, graphs: GraphDatabase, node: int) -> Matrix:
        """Return the decisions about a node of the training graph after its edges have been changed."""
        with stopping_allowed(), one_blas_thread():
            sheet = Sheet(graphs, self.inputs_, self.n_jobs)
            known = self._known(sheet)
            return mean_decisions(self.members_, sheet, None if known is None else known.hops)[[node]]

    def _known(self, sheet: Sheet) -> Known | None:
        """Return the known targets of the training graph, propagated, if members see them."""
        blocks = [block for member in self.members_ for block in member.blocks if block.uses_targets]
        if not blocks:
            return None
        returns = return_chances_of(sheet.walks, self.nodes_, max(block.last for block in blocks))
        hops = target_hops(sheet.walks, self.targets_, self.nodes_, returns, sheet.between(blocks))
        return Known(self.nodes_, self.targets_, hops)

    def _explain(
        self, nodes: Any, weights: Matrix, names: list[str], speaks_for: Any = None, against: Any = None
    ) -> NodeExplanation:
        """Return contributions to weighted sums of decisions, one row of weights per node."""
        check_is_fitted(self, "members_")
        chosen = node_numbers(np.atleast_1d(nodes), self.graph_.n_nodes, "nodes")
        with stopping_allowed(), one_blas_thread():
            sheet = Sheet(self.graph_, self.inputs_, self.n_jobs)
            tallies = Tallies(sheet, self._known(sheet))
            found = [tallies.of(int(v), self.members_, w) for v, w in zip(chosen, weights, strict=True)]
        decisions = np.einsum("ij,ij->i", self.decisions_[chosen], weights)
        columns = column_names(self.inputs_, names)
        return NodeExplanation(chosen, found, decisions, self.graph_, columns, speaks_for, against)

    def _counterfactuals(
        self, node: int, question: Any, max_edits: int, n: int, n_added: int
    ) -> Counterfactuals:
        """Return edits of edges around a node that answer a question."""
        most, number = check_integer(max_edits, "max_edits", 1, 3), check_integer(n, "n", 1)
        added = check_integer(n_added, "n_added", 0)
        decide = self._own_decisions
        return find_edge_edits(self.graph_, node, decide, question, most, number, added)

    def applicability(self, X: OneGraph | None = None) -> Applicability:
        """Return which surroundings of nodes did not occur in the training graph, per radius and node.

        Parameters
        ----------
        X : graph, optional
            By default the training graph, whose surroundings all occurred.

        Returns
        -------
        Applicability
        """
        check_is_fitted(self, "members_")
        graphs = self.graph_ if X is None else check_graph(X)
        return applicability_of([self.surroundings_], graphs, self.n_jobs)

    def _hops(self, sheet: Sheet, known: KnownNodes) -> TargetHops | None:
        """Return the propagated targets of partly known nodes, if members see them."""
        blocks = [block for member in self.members_ for block in member.blocks if block.uses_targets]
        if not blocks:
            return None
        returns = return_chances_of(sheet.walks, known.nodes, max(block.last for block in blocks))
        spread = self._spread_of(known.target)
        return target_hops(sheet.walks, spread, known.nodes, returns, sheet.between(blocks))

    def _check_parts(self) -> None:
        """Raise unless every labeled node has a target and every node decisions."""
        if hasattr(self, "members_"):
            n = self.graph_.n_nodes
            require(len(self.nodes_) == len(self.targets_), "every labeled node needs a target")
            require(((self.nodes_ >= 0) & (self.nodes_ < n)).all(), "a labeled node is out of range")
            require(self.decisions_.ndim == 2 and len(self.decisions_) == n, "every node needs decisions")
            require(len(self.members_) > 0 and len(self.blind_members_) > 0, "a model needs members")


def mean_decisions(members: Sequence[NodeMember], sheet: Sheet, hops: TargetHops | None) -> Matrix:
    """Return the mean decisions of members, (N, decisions)."""
    return np.asarray(np.mean([member.decide(sheet, hops) for member in members], axis=0))


def _part(labeled: Labeled, places: Indices) -> Labeled:
    """Return some of the labeled nodes."""
    if len(places) == len(labeled.nodes):
        return labeled
    rows = labeled.rows
    kept = np.concatenate([places, labeled.pool])
    hops = {key: value.at(kept) for key, value in rows.hops.items()}
    codes = None if rows.codes is None else rows.codes[kept]
    nodes = labeled.nodes[places]
    return Labeled(
        labeled.sheet,
        nodes,
        labeled.target[places],
        labeled.spread[places],
        type(rows)(rows.nodes[kept], hops, codes),
        labeled.returns[places],
        labeled.between,
        labeled.n_pool,
    )
