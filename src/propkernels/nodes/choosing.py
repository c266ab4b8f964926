"""Choice among views: machines compete on held-out nodes whose targets are removed before propagation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from propkernels.explain.decisions import by_class
from propkernels.models.folds import Folds
from propkernels.models.least_squares import Linear, solve_features
from propkernels.nodes.members import N_LANDMARKS, NodeMember, ViewMap
from propkernels.nodes.spreading import Known, TargetHops, return_chances_of, several_target_hops, target_hops
from propkernels.nodes.views import Rows, Sheet, View

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
FEWEST_HELD = 10  # held-out nodes per class, on average; from fewer, no log loss and no shares are estimated
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
MOST_CHOOSING = 6000  # training nodes of machines that are only compared
MOST_MEMBERS = 4
ROUNDS = 8  # of greedy selection: shares of views are eighths
SLOPES = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)  # of decisions, for their log loss
MOST_COMPARED = 5000  # held-out nodes for the log loss


@dataclass(frozen=True)
class Goal:
    """Targets of labeled nodes.

    Attributes
    ----------
    columns : ndarray, (nodes, columns)
        Columns of least squares: 1 and -1 of classes or labels, or standardized numbers; NaN if missing.
    classes : ndarray of int64, (nodes,), or None
        Numbers of the classes, if each node has one.
    has_labels : bool
        Whether columns are classes or labels rather than numbers.
    weights : ndarray, (nodes,), or None
    """

    columns: Matrix
    classes: Indices | None
    has_labels: bool
    weights: NDArray[np.float64] | None

    def at(self, places: Indices) -> Goal:
        """Return the targets of some nodes."""
        classes = None if self.classes is None else self.classes[places]
        weights = None if self.weights is None else self.weights[places]
        return Goal(self.columns[places], classes, self.has_labels, weights)

    @property
    def is_constant(self) -> bool:
        """Whether all nodes have the same class, so that nothing can be learned."""
        return self.classes is not None and len(np.unique(self.classes)) < 2

    def losses(self, decisions: Matrix) -> NDArray[np.float64]:
        """Return 1 for a wrong class, the share of wrong labels, or the mean squared error, node by node."""
        if self.classes is not None:
            return (by_class(decisions).argmax(axis=1) != self.classes).astype(np.float64)
        wrong = (decisions > 0) != (self.columns > 0) if self.has_labels else (decisions - self.columns) ** 2
        return np.where(np.isnan(self.columns), 0.0, wrong).mean(axis=1)


@dataclass(frozen=True)
class Labeled:
    """Labeled nodes of one graph, with everything that machines are fitted to.

    Attributes
    ----------
    sheet : Sheet
    nodes : ndarray of int64
        Labeled nodes.
    goal : Goal
        Targets of the labeled nodes.
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
    nodes: Indices
    goal: Goal
    spread: Matrix
    rows: Rows
    returns: Matrix
    between: Matrix | None

    @classmethod
    def gather(
        cls,
        sheet: Sheet,
        nodes: Indices,
        goal: Goal,
        spread: Matrix,
        views: Sequence[View],
        pool: Indices,
    ) -> Labeled:
        """Propagate the columns of all views, and keep their rows at the labeled nodes and the pool."""
        blocks = list(dict.fromkeys(block for view in views for block in view.blocks))
        steps = max((b.last for b in blocks if b.source == "targets"), default=0)
        returns = return_chances_of(sheet.walks, nodes, steps) if steps else np.zeros((len(nodes), 0))
        between = sheet.between(blocks)
        rows = sheet.at(np.concatenate([nodes, pool]), blocks)
        return cls(sheet, nodes, goal, spread, rows, returns, between)

    @property
    def pool(self) -> Indices:
        """Places of the nodes whose classes may be guessed."""
        return np.arange(len(self.nodes), len(self.rows.nodes))

    def hops_of(self, views: Sequence[View], folds: Folds) -> list[TargetHops | None]:
        """Return propagated targets of the training nodes of each fold; None: no view uses them."""
        if not any(view.uses_targets for view in views):
            return [None] * len(folds)
        sets = [Known(self.spread[p], self.nodes[p], self.returns[p]) for p, _ in folds]
        return [*several_target_hops(self.sheet.walks, sets, self.between, self.rows.nodes)]

    def hops_everywhere(self, views: Sequence[View]) -> TargetHops | None:
        """Return propagated targets of all labeled nodes at all nodes; None: no view uses them."""
        if not any(view.uses_targets for view in views):
            return None
        known = Known(self.spread, self.nodes, self.returns)
        return target_hops(self.sheet.walks, known, self.between)

    def at(self, places: Indices) -> Labeled:
        """Return some of the labeled nodes, with the whole pool."""
        if len(places) == len(self.nodes):
            return self
        return replace(
            self,
            nodes=self.nodes[places],
            goal=self.goal.at(places),
            spread=self.spread[places],
            rows=self.rows.at(np.concatenate([places, self.pool])),
            returns=self.returns[places],
        )

    def parts(self, view: View, places: Indices, targets: TargetHops | None) -> list[Any]:
        """Return the features of a view, block by block."""
        return [self.rows.block(block, places, targets) for block in view.blocks]


@dataclass
class Arm:
    """A view with a cost: its losses and decisions on held-out nodes.

    Attributes
    ----------
    view : View
    cost : float
    losses : list of ndarray
        One array per part.
    decisions : list of ndarray
    share : float
        Weight of the decisions beside those of other arms.
    """

    view: View
    cost: float
    losses: list[Matrix] = field(default_factory=list)
    decisions: list[Matrix] = field(default_factory=list)
    share: float = 1.0

    @property
    def mean_loss(self) -> float:
        """Mean loss of the held-out nodes; 0 if there are none."""
        return float(np.concatenate(self.losses).mean()) if self.losses else 0.0


@dataclass(frozen=True)
class Choice:
    """Arms whose decisions are averaged, the best first; all arms; and what they were judged on.

    Attributes
    ----------
    arms, all_arms : list of Arm
    held : ndarray of int64
        Held-out nodes, in order.
    hops : sequence of TargetHops or None
        Propagated targets per fold.
    """

    arms: list[Arm]
    all_arms: list[Arm]
    held: Indices
    hops: Sequence[TargetHops | None] = ()

    def held_decisions(self) -> Matrix:
        """Return the mean decisions of all arms on the held-out nodes."""
        if not len(self.held):
            return np.zeros((0, 1))
        return mean_by_share(self.arms, [np.concatenate(arm.decisions) for arm in self.arms])

    def score(self) -> float:
        """Return 1 minus the mean loss of the best arm on held-out nodes; NaN without any."""
        return 1.0 - self.arms[0].mean_loss if len(self.held) else float("nan")

    def best_blind(self) -> Arm:
        """Return the best arm that sees no targets, among those judged on most held-out nodes."""
        blind = [arm for arm in self.all_arms if not arm.view.uses_targets]
        return min(blind, key=lambda arm: (-len(arm.losses), arm.mean_loss))


def choose(
    labeled: Labeled, views: Sequence[View], folds: Folds, costs: Sequence[float], seed: int
) -> Choice:
    """Compare all views and costs on held-out nodes, and return the best and those like it.

    Per fold, only targets of its training nodes are propagated: a held-out target reaches neither its own
    features nor those of others.
    """
    arms = [Arm(view, cost) for view in views for cost in costs]
    held_out = []
    racing = list(views)
    hops = labeled.hops_of(views, folds)
    for number, ((train, held), targets) in enumerate(zip(folds, hops, strict=True)):
        if labeled.goal.at(train).is_constant:
            continue
        fitted = some_of(train, MOST_CHOOSING, seed + number)
        goal, truth = labeled.goal.at(fitted), labeled.goal.at(held)
        for view in racing:
            view_map = ViewMap(view, labeled.parts(view, fitted, targets), seed)
            rows = view_map.rows(labeled.parts(view, held, targets))
            judged = [arm for arm in arms if arm.view is view]
            machines = fit_goal(view_map.known, goal, [arm.cost for arm in judged])
            for arm, machine in zip(judged, machines, strict=True):
                arm.decisions.append(machine.decisions(rows))
                arm.losses.append(truth.losses(arm.decisions[-1]))
        held_out.append(held)
        racing = _in_the_race(racing, arms)
    if not held_out:
        return Choice([arms[0]], arms, np.arange(0), hops)
    complete, held = [arm for arm in arms if arm.view in racing], np.concatenate(held_out)
    classes = labeled.goal.classes
    if classes is not None and len(held) >= FEWEST_HELD * (classes.max() + 1):
        return Choice(select(complete, classes[held], seed), arms, held, hops)
    return Choice(partners(complete), arms, held, hops)


def mean_by_share(arms: Sequence[Arm], found: Sequence[Matrix]) -> Matrix:
    """Return the mean of the arms' decisions, weighted by their shares."""
    return np.asarray(np.average(found, axis=0, weights=[arm.share for arm in arms]))


def _in_the_race(views: list[View], arms: list[Arm]) -> list[View]:
    """Return the views that are at most three standard errors behind the best one.

    The best view that sees no targets stays as well: graphs without targets need it.
    """
    bests = {view: min((a for a in arms if a.view == view), key=lambda a: a.mean_loss) for view in views}
    first = min(bests.values(), key=lambda arm: arm.mean_loss)
    blind = min((a for a in bests.values() if not a.view.uses_targets), key=lambda a: a.mean_loss)
    return [v for v, arm in bests.items() if arm is blind or not _is_behind(arm, first, 3.0)]


def _is_behind(arm: Arm, best: Arm, n_errors: float) -> bool:
    """Return whether the mean gap of losses on the same nodes is larger than some standard errors."""
    gaps = np.concatenate(arm.losses) - np.concatenate(best.losses)
    return bool(gaps.mean() > n_errors * gaps.std() / np.sqrt(len(gaps)))


def some_of(places: Indices, most: int, seed: int) -> Indices:
    """Return at most so many places, drawn at random."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(seed).permutation(places)[:most])


def partners(arms: list[Arm]) -> list[Arm]:
    """Return the best arm, and the best of other views whose loss is within one standard error of it."""
    order = sorted(range(len(arms)), key=lambda i: arms[i].mean_loss)
    best = arms[order[0]]
    chosen, views = [best], {best.view}
    for i in order[1:]:
        arm = arms[i]
        if arm.view in views or len(chosen) == MOST_MEMBERS:
            continue
        if _is_behind(arm, best, 1.0):
            break
        chosen.append(arm)
        views.add(arm.view)
    return chosen


def select(arms: list[Arm], truth: Indices, seed: int) -> list[Arm]:
    """Return at most four views, with shares, whose mean decisions have a small log loss [1]_.

    Views are tried that make at most two standard errors more errors than the best. Eight times, the one that
    lowers the log loss of the mean the most is added, or added again.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes (2004). Ensemble selection from libraries of
       models. International Conference on Machine Learning.
    """
    some = some_of(np.arange(len(truth)), MOST_COMPARED, seed)
    truth = truth[some]
    best = min(arms, key=lambda arm: arm.mean_loss)
    bests: dict[View, tuple[float, Arm, Matrix]] = {}  # the cost of each view with the smallest log loss
    for arm in arms:
        if not _is_behind(arm, best, 2.0):
            decisions = by_class(np.concatenate(arm.decisions)[some])
            loss = log_loss(decisions, truth)
            if arm.view not in bests or loss < bests[arm.view][0]:
                bests[arm.view] = loss, arm, decisions
    tried = [(arm, decisions) for _, arm, decisions in bests.values()]
    total, counts = np.zeros_like(tried[0][1]), dict[int, int]()
    for number in range(1, ROUNDS + 1):
        allowed = list(counts) if len(counts) == MOST_MEMBERS else range(len(tried))
        losses = [log_loss((total + tried[i][1]) / number, truth) for i in allowed]
        chosen = allowed[int(np.argmin(losses))]
        total += tried[chosen][1]
        counts[chosen] = counts.get(chosen, 0) + 1
    return [replace(tried[i][0], share=count / ROUNDS) for i, count in counts.items()]


def log_loss(scores: Matrix, truth: Indices) -> float:
    """Return the mean log loss of ``softmax(b d)`` for decisions d of all classes, with the best slope b."""
    gaps = scores - scores[np.arange(len(truth)), truth][:, None]
    return min(float(logsumexp(slope * gaps, axis=1).mean()) for slope in SLOPES)


ABSENT = -2.0  # decision for a class without training nodes: below the margin, -1, of other classes


def fit_goal(rows: Any, goal: Goal, costs: Sequence[float]) -> list[Linear]:
    """Return least squares for each cost; classes without training nodes get a low decision."""
    found = solve_features(rows, goal.columns, costs, goal.weights)
    if goal.classes is None or goal.columns.shape[1] == 1:
        return found
    absent = (goal.columns < 0).all(axis=0)
    return [one._replace(intercepts=np.where(absent, ABSENT, one.intercepts)) for one in found]


def fit_arms(
    labeled: Labeled,
    arms: Sequence[Arm],
    places: Indices,
    goal: Goal,
    targets: TargetHops | None,
    seed: int,
    n_landmarks: int = N_LANDMARKS,
) -> list[tuple[ViewMap, Linear]]:
    """Return the least squares of each arm, fitted to the nodes at some places with these targets."""
    fitted = []
    for arm in arms:
        view_map = ViewMap(arm.view, labeled.parts(arm.view, places, targets), seed, n_landmarks)
        fitted.append((view_map, fit_goal(view_map.known, goal, [arm.cost])[0]))
    return fitted


def fit_members(
    labeled: Labeled, arms: Sequence[Arm], targets: TargetHops | None, seed: int
) -> list[NodeMember]:
    """Return one member per arm, fitted to all labeled nodes."""
    everyone = np.arange(len(labeled.nodes))
    fitted = fit_arms(labeled, arms, everyone, labeled.goal, targets, seed)
    return [view_map.member(machine) for view_map, machine in fitted]
