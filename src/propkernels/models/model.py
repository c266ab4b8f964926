"""PropagationModel: the common base of classifier and regressor: choose, learn, fold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_integer
from propkernels._utils.locks import cached_property
from propkernels._utils.parallel import blas_threads, run_threads
from propkernels._utils.progress import Progress, ProgressBar
from propkernels._utils.stored import SOMETIMES, require
from propkernels._utils.typing import Column, Target
from propkernels.convert.check import check_graphs
from propkernels.explain.comparisons import explain_rule
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.decision_columns import self_similarities
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import find_counterfactuals
from propkernels.explain.rule import Rule, dual_members, mean_rule, primal_members
from propkernels.explain.strongest_bins import Bins, strongest_bins
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import Names
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.models.candidates import (
    Candidate,
    Space,
    check_cost_grid,
    check_epsilons,
    check_steps,
    count_arms,
    resolve_selection,
)
from propkernels.models.choosing import MOST_FOR_KERNEL, choose_finalist, resolve_solver, search
from propkernels.models.conformal import Conformal, FoldModels, learn_fold_models, pairs_of_folds
from propkernels.models.defaults import check_kernels, default_steps, prefers_landmarks
from propkernels.models.folds import Folds, Seeds, check_groups, choosing_folds, draw_seeds
from propkernels.models.gaussian_process import Posterior
from propkernels.models.halving import count_steps, is_worthwhile, shortlist
from propkernels.models.partners import HeldOut, Selection
from propkernels.models.support_vectors import Machine, stopping_allowed
from propkernels.models.targets import has_columns, known_targets
from propkernels.models.tasks import Classification, Task
from propkernels.novelty.applicability import Applicability, applicability_of
from propkernels.novelty.foreign import unknown_nodes, warn_if_foreign
from propkernels.propagation.imputer import LabelImputer

if TYPE_CHECKING:
    pass

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """Everything learned by fit.

    Attributes
    ----------
    selection : Selection
        The chosen settings.
    solver : str
    kernel : estimator
        The fitted kernel.
    rule : Rule
        Decisions without intercepts.
    machine : Machine
        Trained on all training graphs.
    posterior : Posterior or None
        Posterior of a Gaussian process.
    held_out : list of HeldOut
        Machines and decisions of the folds.
    fold_models : FoldModels or None
        The same machines for new graphs; None without folds.
    unseen : ndarray
        Share of each held-out graph's bins that its fold has not seen, fold after fold.
    pairs : list of HeldOut
        Machines and decisions without two folds each.
    unseen_by_pairs : list of ndarray
        Shares of unseen bins of the held-out graphs of each pair.
    imputer : LabelImputer or None
        Imputes missing node labels first, if that was better in cross-validation.
    """

    selection: Selection
    solver: str
    kernel: Any
    rule: Rule
    machine: Machine
    posterior: Posterior | None
    held_out: Sequence[HeldOut] = ()
    fold_models: FoldModels | None = None
    unseen: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    pairs: Sequence[HeldOut] = ()
    unseen_by_pairs: Sequence[NDArray[np.float64]] = ()
    imputer: LabelImputer | None = None

    @property
    def known(self) -> NDArray[np.int64]:
        """Positions of the held-out graphs, fold after fold."""
        return np.concatenate([part.held for part in self.held_out])

    @property
    def decisions(self) -> Matrix:
        """Decisions about the held-out graphs, fold after fold."""
        return np.concatenate([part.decisions for part in self.held_out])

    def conformal(self, score: Callable[[NDArray[np.int64], Matrix], Matrix]) -> Conformal | None:
        """Return the scores of held-out graphs with the models that gave them; None without folds.

        ``score`` returns the nonconformity, (graphs, groups), given positions of graphs and decisions.
        """
        if self.fold_models is None:
            return None
        pairs = zip(self.pairs, self.unseen_by_pairs, strict=True)
        by_pairs = [(score(part.held, part.decisions), unseen) for part, unseen in pairs]
        scores = score(self.known, self.decisions)
        return Conformal.learn(self.fold_models, self.held_out, self.unseen, scores, by_pairs)


class PropagationModel(GraphInput, BaseEstimator, ABC):
    """Base of models of graphs; subclasses define the target."""

    intercept_: NDArray[np.float64]
    kernel_: Any
    posterior_: Posterior | None
    rule_: Rule
    t_max_: int | None
    C_: Annotated[float | None, SOMETIMES]
    conformal_: Annotated[Conformal | None, SOMETIMES]
    imputer_: Annotated[LabelImputer | None, SOMETIMES]
    n_folds_: Annotated[int, SOMETIMES]
    normalize_: Annotated[bool | None, SOMETIMES]
    score_: Annotated[float, SOMETIMES]
    solver_: Annotated[str, SOMETIMES]
    kernel: Any
    t_max: Any
    C: Any
    normalize: Any
    solver: str
    selection: str
    scoring: Any
    cv: Any
    random_state: Any
    n_jobs: int | None
    progress: Progress

    @property
    def _name(self) -> str:
        """Name in progress bars: that of the public class."""
        return next(cls.__name__ for cls in type(self).__mro__ if not cls.__name__.startswith("_"))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the model, and of its kernel as ``kernel__bin_width``.

        If ``kernel`` is None, a parameter of the kernel sets it to a :class:`PropagationKernel`.
        """
        kernel = params.get("kernel", self.kernel)
        if any(name.startswith("kernel__") for name in params):
            if isinstance(kernel, (list, tuple)):
                raise ValueError("parameters of a list of kernels cannot be set: set kernel itself")
            if kernel is None:
                self.kernel = PropagationKernel()
        return super().set_params(**params)

    @abstractmethod
    def _learning_target(self, y: Any, n: int, several: bool, weights: Any, places: Any) -> Any:
        """Return the target of machines with its task, for n graphs at these places of all graphs."""

    @abstractmethod
    def _keep_target(self, target: Any, learned: Learned, names: Names) -> None:
        """Store what turns decisions into predictions; raise before anything is stored."""

    def fit(
        self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None, groups: Column | None = None
    ) -> Self:
        """Choose the settings, and learn from all training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : array-like of shape (n,) or (n, columns)
            Class or number of each graph. Several columns are labels 0, 1 or missing (NaN) of a classifier,
            or numbers of a regressor, which may be missing too. Graphs without a single target (None or NaN)
            are dropped, with a warning that gives their number.
        sample_weight : array-like of shape (n,), optional
            Weight of each graph's errors in learning; the choice counts all graphs alike.
        groups : array-like of shape (n,), optional
            Group of each graph: folds of the choice never split a group.

        Returns
        -------
        self
        """
        graphs, several = check_graphs(X), has_columns(y)
        known = known_targets(y, len(graphs))
        known.check_cv(self.cv)
        known.warn()
        graphs = known.take(graphs)
        weights, places = known.take(sample_weight), known.places
        target = self._learning_target(known.target, len(graphs), several, weights, places)
        seeds = draw_seeds(self.random_state, 1)[0]
        folds = self._folds(target.values, known.take(groups), seeds.inner)
        with stopping_allowed(), blas_threads(self.n_jobs):
            epsilon = getattr(self, "epsilon", 0.0)
            learned = self._learn(graphs, target.values, folds, target.task, seeds, epsilon)
            self._keep_target(target, learned, getattr(X, "names", Names()))
        self.score_ = cross_validated_score(learned.selection, target.values, folds, target.task)
        self.n_folds_ = len(folds)
        return self

    def _learn(
        self,
        graphs: GraphDatabase,
        target: NDArray[Any],
        folds: Folds,
        task: Task,
        seeds: Seeds,
        epsilon: Any,
    ) -> Learned:
        """Choose settings and train on all graphs without touching self: a failed fit changes nothing."""
        best: tuple[Rehearsal, Any, GraphDatabase, str] | None = None
        imputers = self._imputers(graphs)

        def rehearse(chosen: Selection) -> Rehearsal:
            made = Rehearsal(chosen, target, folds, task, self.n_jobs)
            if len(imputers) == 1:  # the choice is final
                _ = made.parts
            return made

        for imputer in imputers:
            known = graphs if imputer is None else imputer.transform(graphs)
            kernels, space = self._space(known, epsilon, task)
            selection, n_steps = self._effort(kernels, space, folds, task, len(known))
            averages = self.kernel is None and is_classifier(self) and space.solver != "gp"
            with ProgressBar(f"{self._name}: choosing", n_steps, progress=self.progress) as bar:
                common = kernels, known, target, folds, space, task, seeds.kernel
                if selection == "halving":
                    arms = shortlist(*common, self.n_jobs, bar.step, averages)
                    tried = choose_finalist(arms, target, folds, task, self.n_jobs, averages, rehearse)
                else:
                    tried = rehearse(search(*common, selection == "exhaustive", self.n_jobs, bar.step))
            if best is None or tried.chosen.mean_loss < best[0].chosen.mean_loss:
                best = tried, imputer, known, space.solver
        assert best is not None
        return _learned(*best)

    def _imputers(self, graphs: GraphDatabase) -> list[LabelImputer | None]:
        """Imputers to try for missing node labels: None (left to the kernels), and label propagation."""
        column = graphs.label_column if isinstance(graphs, GraphDatabase) else None
        if self.kernel is not None or not isinstance(column, LabelColumn):
            return [None]
        if not column.observed.any() or column.observed.all():
            return [None]
        return [None, LabelImputer(tolerance=1e-3, max_steps=100).fit(graphs)]

    def _effort(
        self, kernels: Sequence[Any], space: Space, folds: Folds, task: Task, n_graphs: int
    ) -> tuple[str, int]:
        """Return the kind of selection, and its number of steps for a progress bar."""
        selection = resolve_selection(self.selection, n_graphs, len(kernels))
        n_arms = count_arms(kernels, space, task)
        if selection == "halving" and (space.solver == "landmarks" or not is_worthwhile(folds)):
            selection = "race"  # products of landmarks are those of all graphs
        if selection != "halving":
            return selection, n_arms * len(folds)
        return selection, count_steps(n_arms // len(task.makers(space.solver, space.epsilons)), folds)

    def _folds(self, target: NDArray[Any], groups: Any, seed: int) -> Folds:
        """Return the folds for the choice."""
        return choosing_folds(target, self.cv, check_groups(groups, len(target)), seed)

    def _space(self, graphs: GraphDatabase, epsilon: Any, task: Task) -> tuple[list[Any], Space]:
        """Validate the parameters, and return the search space."""
        check_choice(self.normalize, ("auto", True, False, None), "normalize")
        costs, steps = check_cost_grid(self.C), check_steps(self.t_max)
        is_regression = isinstance(self, RegressorMixin)
        asked = self.solver
        if asked == "auto" and self.kernel is None and isinstance(task, Classification):
            is_many = len(graphs) > MOST_FOR_KERNEL
            asked = "landmarks" if is_many and prefers_landmarks(graphs) else asked
        is_linear = asked == "linear" or (asked == "auto" and len(graphs) > MOST_FOR_KERNEL)
        kernels = check_kernels(self.kernel, graphs, self.n_jobs, is_regression, is_linear)
        if self.kernel is None and steps is None:
            steps = default_steps(kernels)
        solver = resolve_solver(asked, kernels, len(graphs), steps)
        return kernels, Space(self.normalize, steps, costs, solver, check_epsilons(epsilon))

    def _keep(self, learned: Learned, conformal: Conformal | None) -> None:
        """Store the learned state, and the nonconformity of held-out graphs, if there are any."""
        candidate = learned.selection.candidate
        is_free = learned.rule.is_explained and learned.posterior is None
        self.kernel_ = learned.selection.kernel if is_free else learned.kernel
        self.rule_, self.intercept_ = learned.rule, learned.machine.intercepts
        self.posterior_, self.solver_, self.imputer_ = learned.posterior, learned.solver, learned.imputer
        self.t_max_, self.normalize_, self.C_ = candidate.t_max, candidate.normalize, learned.selection.C
        self.conformal_ = conformal

    def _decisions(self, graphs: GraphDatabase) -> Matrix:
        return np.asarray(self.rule_.decisions(graphs, self.n_jobs)) + self.intercept_

    def _watched_decisions(self, graphs: GraphDatabase, stacklevel: int) -> Matrix:
        """Return decisions, and warn about graphs unlike the training graphs."""
        rule = self.rule_
        runs = rule.by_runs(graphs, self.n_jobs, lambda run: (rule.decide(run), unknown_nodes(rule, run)))
        warn_if_foreign([unknown for _, unknown in runs], graphs, stacklevel + 1)
        return np.concatenate([decisions for decisions, _ in runs]) + self.intercept_

    def _checked(self, X: Any) -> GraphDatabase:
        check_is_fitted(self, "rule_")
        graphs = check_graphs(X)
        imputer = getattr(self, "imputer_", None)  # missing in files of earlier versions
        if imputer is None:
            return graphs
        with stopping_allowed():
            return imputer.transform(graphs)

    def applicability(self, X: Graphs) -> Applicability:
        """Return which surroundings of nodes did not occur in training, per radius and node.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        Applicability
            Shares of unseen surroundings; predictions for mostly unseen graphs are unreliable.
        """
        graphs = self._checked(X)
        if not self.rule_.vocabularies:
            name = type(self.kernel_).__name__
            raise TypeError(f"{name} compares graphs without counting bins: there are no surroundings")
        return applicability_of(self.rule_.vocabularies, graphs, self.n_jobs)

    def _conformal(self) -> Conformal:
        """Return the held-out scores of fit; raise if there are none."""
        conformal = getattr(self, "conformal_", None)  # missing in files of earlier versions
        if conformal is None:
            raise ValueError(
                "this model has no held-out predictions: fit it with at least two folds, by this version"
            )
        return conformal

    def _variances(self, graphs: GraphDatabase) -> Matrix:
        """Return the posterior variances at new graphs."""
        if self.posterior_ is None:
            raise ValueError(f'predictive variances require solver="gp", this model has {self.solver_!r}')
        own = self_similarities(self.kernel_, graphs)
        return self.posterior_.variances(self.kernel_.transform(graphs), own)

    def _explain(self, graphs: GraphDatabase, weights: NDArray[np.float64], *compared: Any) -> Explanation:
        """Return contributions to a weighted sum of decisions."""
        self._check_explained()
        return explain_rule(self.rule_, graphs, weights, self.intercept_, self.n_jobs, *compared)

    def _check_explained(self, *so: str) -> None:
        if not self.rule_.is_explained:
            raise TypeError(why_not_explained(self.kernel_, *so))

    def _counterfactuals(self, graph: Any, ask: Any, **options: Any) -> Counterfactuals:
        """Return edits of one graph that answer the question from ``ask``."""
        check_is_fitted(self, "rule_")
        with stopping_allowed():
            return find_counterfactuals(
                lambda graphs: self._decisions(self._checked(graphs)), self.rule_, graph, ask, **options
            )

    def _top_bins(
        self,
        n: int,
        graphs: GraphDatabase,
        weights: NDArray[np.float64],
        target: Any,
        subject: str,
        **shown: Any,
    ) -> Bins:
        """Return the bins with the largest weights in a weighted sum; target: a number per graph, or None."""
        values = None if target is None else np.asarray(target, dtype=np.float64)
        if values is not None and values.shape != (len(graphs),):
            raise ValueError(
                f"y must have one value for each of {len(graphs)} graphs, got shape {values.shape}"
            )
        self._check_explained("its bins have no weights")
        most = check_integer(n, "n", 1)
        bins = self.rule_.bin_weights(graphs, np.asarray(weights, dtype=np.float64), self.n_jobs)
        return strongest_bins(bins, most, graphs, values, n_jobs=self.n_jobs, subject=subject, **shown)

    def _check_parts(self) -> None:
        """Refuse a number of intercepts other than that of the decisions."""
        if hasattr(self, "rule_"):
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            n_decisions, conformal = self.rule_.n_decisions, getattr(self, "conformal_", None)
            require(self.intercept_.shape == (n_decisions,), "every decision needs an intercept")
            if conformal is not None:
                fits = conformal.models.n_decisions == n_decisions
                require(fits, "models of folds have other decisions")


def why_not_explained(kernel: Any, so: str = "its decisions cannot be explained") -> str:
    """Return a message on why a kernel has no explanation, and which one has."""
    name, base = type(kernel).__name__, getattr(kernel, "base_kernel", "linear")
    if base in ("linear", "intersection"):
        return (
            f"{name} is not a dot product of counts: {so}; "
            "name a kernel that is one, such as kernel=PropagationKernel()"
        )
    drawn_anew = {"random_state": None} if hasattr(kernel, "random_state") else {}
    explained = clone(kernel).set_params(base_kernel="intersection", **drawn_anew)
    return (
        f"{name} is not a dot product of counts with base_kernel={base!r}: {so}; "
        f"fit a model with kernel={' '.join(repr(explained).split())} for that"
    )


def _learned(
    rehearsal: Rehearsal, imputer: LabelImputer | None, graphs: GraphDatabase, solver: str
) -> Learned:
    """Train on all graphs with the chosen candidates, and turn the machines of the folds into models."""
    chosen, target, n_jobs = rehearsal.chosen, rehearsal.target, rehearsal.n_jobs
    held_out, pairs = rehearsal.parts
    found = _learned_each(chosen, graphs, target, rehearsal.task, solver, n_jobs)
    learned = replace(_mean_of(found), imputer=imputer)
    if not held_out:
        return learned
    kernels = [one.kernel for one in found]
    models, unseen, by_pairs = learn_fold_models(
        chosen, kernels, learned.rule, graphs, target, held_out, pairs, n_jobs
    )
    return replace(
        learned,
        held_out=held_out,
        fold_models=models,
        unseen=unseen,
        pairs=pairs,
        unseen_by_pairs=by_pairs,
    )


def _learned_each(
    chosen: Selection,
    graphs: GraphDatabase,
    target: NDArray[Any],
    task: Task,
    solver: str,
    n_jobs: int | None,
) -> list[Learned]:
    """Train on all graphs with each of the chosen candidates."""
    return run_threads(
        lambda member: _learned_one(chosen, member[0], member[1], graphs, target, task, solver),
        chosen.members,
        n_jobs,
        uses_blas=True,
    )


def _mean_of(found: Sequence[Learned]) -> Learned:
    """Return the mean of the models of all chosen candidates."""
    if len(found) == 1:
        only: Learned = found[0]
        return only
    rule = mean_rule([one.rule for one in found])
    intercepts = np.mean([one.machine.intercepts for one in found], axis=0)
    machine = replace(found[0].machine, intercepts=np.asarray(intercepts))
    return replace(found[0], rule=rule, machine=machine)


def _learned_one(
    chosen: Selection,
    candidate: Candidate,
    cost: float,
    graphs: GraphDatabase,
    target: NDArray[Any],
    task: Task,
    solver: str,
) -> Learned:
    """Train on all graphs with one of the chosen candidates."""
    kernel = candidate.fitted_kernel(graphs, target)
    machine, unit = candidate.machine_of_all(task, target, cost)
    coefficients = machine.coefficients / unit
    members = primal_members if candidate.maker.uses_features else dual_members
    posterior = None if machine.details is None else replace(machine.details, scale=unit)
    return Learned(chosen, solver, kernel, Rule.of(members(kernel, coefficients)), machine, posterior)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A choice, with the machines that have not seen some of the folds.

    Attributes
    ----------
    chosen : Selection
    target : ndarray
    folds : Folds
    task : Task
    n_jobs : int or None
    """

    chosen: Selection
    target: NDArray[Any]
    folds: Folds
    task: Task
    n_jobs: int | None

    @cached_property
    def parts(self) -> tuple[list[HeldOut], list[HeldOut]]:
        """Machines without one fold, and without two; the latter for all pairs of folds, or for none.

        They are fitted when they are first read.
        """
        held_out = hold_out(self.chosen, self.target, self.folds, self.task, self.n_jobs)
        parts = pairs_of_folds([(part.train, part.held) for part in held_out])
        pairs = hold_out(self.chosen, self.target, parts, self.task, self.n_jobs)
        return held_out, pairs if len(pairs) == len(parts) else []


def hold_out(
    chosen: Selection, target: NDArray[Any], folds: Folds, task: Task, n_jobs: int | None = None
) -> list[HeldOut]:
    """Return the machines of each fold, and their decisions on its held-out graphs.

    Folds whose training part is insufficient for the task (such as one without a class) are skipped.
    """
    learnable = [
        (train, held)
        for train, held in folds
        if task.is_learnable(target[train], target) and not task.is_constant(target[train])
    ]
    return run_threads(lambda fold: chosen.hold_out(task, target, *fold), learnable, n_jobs, uses_blas=True)


def cross_validated_score(chosen: Selection, target: NDArray[Any], folds: Folds, task: Task) -> float:
    """Return the score of the choice: the scorer's mean, or 1 minus the mean loss of observed entries.

    The latter is accuracy for classes, and R^2 for standardized numbers.
    """
    if not task.is_additive:
        return -chosen.mean_loss
    if target.ndim == 1 or not folds:
        return 1.0 - chosen.mean_loss
    n_observed = sum(int(np.sum(~np.isnan(target[held]))) for _, held in folds)
    total = float(sum(part.sum() for part in chosen.losses))
    return 1.0 - total * target.shape[1] / n_observed
