"""What PropagationClassifier and PropagationRegressor share: choose, learn, fold."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from propkernels.graphs.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.learn.explain.explain import explain_rule
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.machines.gaussian_process import Posterior
from propkernels.learn.machines.rules import (
    FoldedRule,
    KernelRule,
    decision_rule,
    primal_rule,
    self_similarities,
)
from propkernels.learn.machines.svm import Machine
from propkernels.learn.machines.tasks import Task
from propkernels.learn.models.defaults import check_kernels
from propkernels.learn.selection.candidates import Space, count_arms
from propkernels.learn.selection.folds import Seeds
from propkernels.learn.selection.search import Folds, Selection, search
from propkernels.learn.selection.solvers import resolve_selection, resolve_solver
from propkernels.learn.selection.space import check_cost_grid, check_epsilons, check_steps
from propkernels.utils.checks import check_choice
from propkernels.utils.progress import ProgressBar
from propkernels.utils.tags import GraphInput

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """All that fit found out.

    Attributes
    ----------
    selection : Selection
        The chosen settings.
    solver : str
    kernel : estimator
        Fitted.
    rule : FoldedRule or KernelRule
        Decisions without intercepts.
    machine : Machine
        Learned from all training graphs.
    posterior : Posterior or None
        Of a Gaussian process.
    """

    selection: Selection
    solver: str
    kernel: Any
    rule: FoldedRule | KernelRule
    machine: Machine
    posterior: Posterior | None


class PropagationModel(GraphInput, BaseEstimator, ABC):
    """A model of graphs: everything but what a target is."""

    kernel: Any
    t_max: Any
    C: Any
    normalize: Any
    solver: str
    selection: str
    n_folds: int
    random_state: Any
    n_jobs: int | None
    verbose: bool

    def _learn(
        self,
        graphs: GraphDatabase,
        target: NDArray[Any],
        folds: Folds,
        task: Task,
        seeds: Seeds,
        epsilon: Any,
    ) -> Learned:
        """Choose the settings and learn from all graphs; the model is as it was until this is done."""
        kernels, space = self._space(graphs, epsilon)
        is_exact = resolve_selection(self.selection, len(graphs))
        total = count_arms(kernels, space, task) * len(folds)
        with ProgressBar(f"{type(self).__name__}: choosing", total) as bar:
            tell = _teller(bar) if self.verbose else _silent
            chosen = search(
                kernels, graphs, target, folds, space, task, seeds.kernel, is_exact, self.n_jobs, tell
            )
        return _learned(chosen, graphs, target, space.solver)

    def _space(self, graphs: GraphDatabase, epsilon: Any) -> tuple[list[Any], Space]:
        """Check all parameters of the choice."""
        check_choice(self.normalize, ("auto", True, False, None), "normalize")
        costs, steps = check_cost_grid(self.C), check_steps(self.t_max)
        kernels = check_kernels(self.kernel, graphs, self.n_jobs)
        solver = resolve_solver(self.solver, kernels, len(graphs), steps)
        return kernels, Space(self.normalize, steps, costs, solver, check_epsilons(epsilon))

    def _keep(self, learned: Learned) -> None:
        """Take over what was learned."""
        candidate = learned.selection.candidate
        is_free = isinstance(learned.rule, FoldedRule) and learned.posterior is None
        self.kernel_ = candidate.kernel if is_free else learned.kernel
        self.rule_, self.intercept_ = learned.rule, learned.machine.intercepts
        self.posterior_, self.solver_ = learned.posterior, learned.solver
        self.t_max_, self.normalize_, self.C_ = candidate.t_max, candidate.normalize, learned.selection.C

    def _decisions(self, graphs: GraphDatabase) -> Matrix:
        return np.asarray(self.rule_.decisions(graphs, self.n_jobs)) + self.intercept_

    def _checked(self, X: Any) -> GraphDatabase:
        check_is_fitted(self, "rule_")
        return check_graphs(X)

    def _variances(self, graphs: GraphDatabase) -> Matrix:
        """Variances of a Gaussian process at new graphs."""
        if self.posterior_ is None:
            raise ValueError(f'only solver="gp" knows how sure it is, this model has {self.solver_!r}')
        own = self_similarities(self.kernel_, graphs)
        return self.posterior_.variances(self.kernel_.transform(graphs), own)

    def _explain(self, graphs: GraphDatabase, weights: NDArray[np.float64], *compared: Any) -> Explanation:
        """Contributions to a weighted sum of decisions."""
        if not isinstance(self.rule_, FoldedRule):
            name = type(self.kernel_).__name__
            raise TypeError(f"{name} is not a dot product of counts: its decisions cannot be explained")
        return explain_rule(self.rule_, graphs, weights, self.intercept_, self.n_jobs, *compared)


def _learned(chosen: Selection, graphs: GraphDatabase, target: NDArray[Any], solver: str) -> Learned:
    """Learn from all graphs with what was chosen."""
    candidate = chosen.candidate
    kernel = candidate.fitted_kernel(graphs)
    part = candidate.source.slice(np.arange(len(graphs)), np.arange(0), candidate.scaled)
    machine = candidate.maker.fit(part.known, target, chosen.C)
    coefficients = machine.coefficients / part.unit
    rule = primal_rule if candidate.maker.uses_features else decision_rule
    posterior = None if machine.details is None else replace(machine.details, scale=part.unit)
    return Learned(chosen, solver, kernel, rule(kernel, coefficients), machine, posterior)


def _silent(parts: int) -> None:
    """Tell nothing."""


def _teller(bar: ProgressBar) -> Any:
    def tell(parts: int) -> None:
        for _ in range(parts):
            bar.step()

    return tell


def held_out_decisions(chosen: Selection, target: NDArray[Any], folds: Folds) -> Sequence[tuple[Any, Matrix]]:
    """Decisions on graphs that were not learned from: for each fold, the graphs and their decisions.

    Folds that lack a class (or all values but one) in their training part are left out.
    """
    candidate, found = chosen.candidate, []
    for train, held in folds:
        if len(np.unique(target[train])) < len(np.unique(target)):
            continue
        part = candidate.source.slice(train, held, candidate.scaled)
        machine = candidate.maker.fit(part.known, target[train], chosen.C)
        found.append((held, machine.decisions(part.unknown)))
    return found
