"""Choice among views: by the held-out squared error, as among kernels; see :mod:`propkernels.models.choose`.

Targets of held-out nodes are removed before propagation, which has no closed form: decisions about held-out
nodes are those of folds, or about validation nodes. They are stretched by the factor with the smallest
squared error, and so are the machines that are chosen: one that is pulled towards the mean decides by less,
but often orders nodes best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propkernels._utils.progress import LOG
from propkernels._utils.typing import Indices, Matrix, Values
from propkernels.models.choose import MOST_GRAPHS, MOST_KERNELS, Problem, averaged
from propkernels.models.folds import Folds
from propkernels.models.least_squares import Linear, solve_features
from propkernels.nodes.members import NodeRule, ViewMap
from propkernels.nodes.spreading import Known, TargetHops, return_chances_of, several_target_hops
from propkernels.nodes.views import Rows, Sheet, View

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
MOST_CHOOSING = 6000  # training nodes of machines that are only compared
ABSENT = -2.0  # decision for a class without training nodes: below that for classes that a node is not in, -1


@dataclass(frozen=True)
class Labeled:
    """Labeled nodes of one graph, with everything that machines are fitted to.

    Attributes
    ----------
    sheet : Sheet
    problem : Problem
        Numbers and targets of the labeled nodes.
    spread : ndarray, (nodes, columns)
        Targets that are propagated.
    rows : Rows
        Propagated columns at the labeled nodes.
    returns : ndarray, (nodes, steps)
        Chances of return.
    between : ndarray, (N, attributes), or None
        Attributes for crossed targets.
    """

    sheet: Sheet
    problem: Problem
    spread: Matrix
    rows: Rows
    returns: Matrix
    between: Matrix | None

    @classmethod
    def gather(cls, sheet: Sheet, problem: Problem, spread: Matrix, views: Sequence[View]) -> Labeled:
        """Propagate the columns of all views, and keep their rows at the labeled nodes."""
        nodes, blocks = problem.graphs, list(dict.fromkeys(block for view in views for block in view.blocks))
        steps = max((b.last for b in blocks if b.source == "targets"), default=0)
        returns = return_chances_of(sheet.walks, nodes, steps) if steps else np.zeros((len(nodes), 0))
        return cls(sheet, problem, spread, sheet.at(nodes, blocks), returns, sheet.between(blocks))

    def hops(
        self, views: Sequence[View], several: Sequence[Indices], nodes: Indices | None = None
    ) -> list[TargetHops | None]:
        """Return propagated targets of several sets of labeled nodes, at some or all nodes of the graph.

        None: no view uses them.
        """
        if not any(view.uses_targets for view in views):
            return [None] * len(several)
        sets = [Known(self.spread[p], self.problem.graphs[p], self.returns[p]) for p in several]
        return [*several_target_hops(self.sheet.walks, sets, self.between, nodes)]

    def at(self, places: Indices) -> Labeled:
        """Return some of the labeled nodes."""
        return replace(
            self,
            problem=self.problem.at(places),
            spread=self.spread[places],
            rows=self.rows.at(places),
            returns=self.returns[places],
        )

    def parts(self, view: View, places: Indices, targets: TargetHops | None) -> list[Any]:
        """Return the features of a view, block by block."""
        return [self.rows.block(block, places, targets) for block in view.blocks]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A view with a cost, and its stretched decisions about held-out nodes, ``factor * d + offsets``."""

    view: View
    cost: float
    held_out: Matrix
    factor: float
    offsets: Values

    @classmethod
    def stretched(cls, view: View, cost: float, decisions: Matrix, problem: Problem) -> Candidate:
        """Return decisions with the factor and offsets that have the smallest squared error."""
        weights = np.ones(len(problem)) if problem.weights is None else problem.weights
        shares = np.where(np.isnan(problem.targets), 0.0, weights[:, None])
        shares /= np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
        truth = np.nan_to_num(problem.targets)
        middle, level = ((shares * part).sum(axis=0) for part in (decisions, truth))
        product = float((shares * (decisions - middle) * truth).sum())
        if product <= 0:  # nothing is learned
            return cls(view, cost, decisions, 1.0, np.zeros(len(level)))
        factor = product / float((shares * (decisions - middle) ** 2).sum())
        offsets = level - factor * middle
        return cls(view, cost, factor * decisions + offsets, factor, offsets)


@dataclass(frozen=True)
class Choice:
    """Candidates whose decisions are averaged, the best first; those that see no targets; and held-out nodes.

    Attributes
    ----------
    chosen, blind : list of Candidate
    held : ndarray of int64
        Places of held-out nodes, in the order of their decisions.
    """

    chosen: list[Candidate]
    blind: list[Candidate]
    held: Indices

    @property
    def held_out(self) -> Matrix:
        """Mean decisions about the held-out nodes."""
        return np.asarray(np.mean([one.held_out for one in self.chosen], axis=0))


def choose(
    labeled: Labeled, views: Sequence[View], folds: Folds, costs: Sequence[float], seed: int
) -> Choice:
    """Compare all views and costs on held-out nodes, and average the best as kernels are averaged.

    Per fold, only targets of its training nodes are propagated: a held-out target reaches neither its own
    features nor those of others. Graphs without targets are decided by views that see none, chosen alone.
    Of more nodes in several folds, a stratified sample decides, as of graphs; targets of all are propagated.
    """
    tried = [(view, cost) for view in views for cost in costs]
    problem, found, held_out = labeled.problem, list[list[Matrix]](), list[Indices]()
    deciding = problem.places(MOST_GRAPHS if len(folds) > 1 else len(problem))
    several = labeled.hops(views, [train for train, _ in folds], labeled.rows.nodes)
    for number, ((train, held), targets) in enumerate(zip(folds, several, strict=True)):
        fitted = some_of(np.intersect1d(train, deciding), MOST_CHOOSING, seed + number)
        own, held = problem.at(fitted), np.intersect1d(held, deciding)
        if (own.targets == own.targets[0]).all():
            continue  # nothing can be learned
        found.append([])
        held_out.append(held)
        for view in views:
            view_map = ViewMap(view, labeled.parts(view, fitted, targets), seed)
            rows = view_map.rows(labeled.parts(view, held, targets))
            found[-1] += [machine.decisions(rows) for machine in fit(view_map.known, own, costs)]
    held = np.concatenate([np.arange(0), *held_out])
    judged, none = problem.at(held), np.zeros((0, problem.targets.shape[1]))
    candidates = dict[View, Candidate]()  # with the best cost of each view
    smallest = dict[View, float]()
    for (view, cost), *parts in zip(tried, *found, strict=True):
        one = Candidate.stretched(view, cost, np.concatenate([none, *parts]), judged)
        loss = float(judged.losses(one.held_out))
        if view not in candidates or loss < smallest[view]:
            candidates[view], smallest[view] = one, loss

    def best(some: list[Candidate]) -> list[Candidate]:
        decided = np.array([one.held_out for one in some])
        return [some[i] for i in averaged(judged, decided, MOST_KERNELS)]

    chosen = best(list(candidates.values()))
    for one in chosen:
        LOG.info("chosen of %d views for nodes: %s, C %g", len(views), one.view, one.cost)
    return Choice(chosen, best([one for one in candidates.values() if not one.view.uses_targets]), held)


def some_of(places: Indices, most: int, seed: int) -> Indices:
    """Return at most so many places, drawn at random."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(seed).permutation(places)[:most])


def fit(rows: Any, problem: Problem, costs: Sequence[float]) -> list[Linear]:
    """Return least squares for each cost; classes without training nodes get a low decision."""
    found = solve_features(rows, problem.targets, costs, problem.weights)
    if not problem.has_classes:
        return found
    absent = (problem.targets < 0).all(axis=0)
    return [one._replace(intercepts=np.where(absent, ABSENT, one.intercepts)) for one in found]


def fit_rule(
    labeled: Labeled, chosen: Sequence[Candidate], targets: TargetHops | None, seed: int
) -> NodeRule:
    """Return the mean of the stretched machines of some candidates, fitted to all labeled nodes."""
    members, intercepts = [], np.zeros(labeled.problem.targets.shape[1])
    everyone = np.arange(len(labeled.problem))
    for one in chosen:
        view_map = ViewMap(one.view, labeled.parts(one.view, everyone, targets), seed)
        (machine,) = fit(view_map.known, labeled.problem, [one.cost])
        member, level = view_map.member(machine)
        members.append(member.scaled(one.factor / len(chosen)))
        intercepts += (one.factor * level + one.offsets) / len(chosen)
    return NodeRule(members, intercepts)
