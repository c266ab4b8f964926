"""The model that a page explains: one whose decisions the page can compute, and its held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explorer.live import NotLive, code_function
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.propagation import PropagationKernel
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.learn.machines.decisions import DecisionLayout
from propkernels.learn.machines.tasks import Classification, Regression
from propkernels.learn.models.base import Learned, held_out_decisions
from propkernels.learn.models.classifier import PropagationClassifier
from propkernels.learn.models.regressor import PropagationRegressor
from propkernels.learn.selection.folds import choosing_folds
from propkernels.propagation.schemes import Diffusion
from propkernels.utils.randomness import draw_seed

Values = NDArray[np.float64]
MANY = 6000  # graphs from which on one kernel is taken without a choice
MANY_COSTS, MANY_STEPS = (1.0,), 3
FEW_CLASSES = 3  # up to which pairs of classes are compared; of more, each with the rest
FOLDS = 5


@dataclass(frozen=True)
class Explained:
    """A model and what it says about the graphs of a page.

    Attributes
    ----------
    model : PropagationClassifier or PropagationRegressor
        Its decisions can be computed by the page.
    predictions : ndarray of shape (n,)
        Numbers of classes, or numbers; -1 or NaN where there is none.
    margins : ndarray of shape (n,)
        How clearly the true class wins, negative where it loses; numbers: how far off the prediction is.
    source : str
        Where the predictions come from, in words.
    remark : str
        What else should be known about the model.
    """

    model: Any
    predictions: NDArray[Any]
    margins: Values
    source: str
    remark: str = ""

    @property
    def layout(self) -> DecisionLayout:
        """What the decision columns mean; no classes where a number is predicted."""
        return getattr(self.model, "layout_", DecisionLayout(0, False))


def explained_model(
    graphs: GraphDatabase,
    target: NDArray[Any],
    classes: NDArray[Any] | None,
    model: Any,
    seed: Any,
    jobs: Any,
) -> Explained:
    """Return a model that the page can compute: the given one if that is possible, else a new one.

    Parameters
    ----------
    graphs : GraphDatabase
        The graphs of the page.
    target : ndarray
        Numbers of classes, or numbers.
    classes : ndarray or None
        The classes; None where numbers are predicted.
    model : fitted model or None
    seed : random_state
    jobs : int or None
    """
    if model is None:
        return _learned(graphs, target, classes, seed, jobs)
    predictions, margins = _of_given(model, graphs, target, classes)
    source = "predicted by the given model, which may have been trained on these graphs"
    try:
        if getattr(model, "imputer_", None) is not None:
            raise NotLive("it fills in missing labels first")
        code_function(getattr(model, "rule_", None), graphs)
    except NotLive as reason:
        other = _learned(graphs, target, classes, seed, jobs)
        same = _agreement(other.model, graphs, predictions, classes)
        remark = (
            f"The page cannot compute the decisions of the given {type(model).__name__}: {reason}. What is "
            f"explained and edited here is another model, {same}."
        )
        return Explained(other.model, predictions, margins, source, remark)
    return Explained(model, predictions, margins, source)


def _agreement(model: Any, graphs: Any, predictions: NDArray[Any], classes: Any) -> str:
    own = model.predict(graphs)
    if classes is None:
        correlation = np.corrcoef(own, predictions)[0, 1]
        return f"whose predictions correlate with those of the given one by {correlation:.2f}"
    share = float(np.mean(np.searchsorted(classes, own) == predictions))
    return f"which agrees with the given one on {100 * share:.1f} % of the graphs"


def _of_given(model: Any, graphs: Any, target: NDArray[Any], classes: Any) -> tuple[NDArray[Any], Values]:
    """Predictions and margins of a model as it is."""
    predicted = np.asarray(model.predict(graphs))
    if classes is None:
        return predicted.astype(np.float64), np.abs(predicted - target)
    own = np.asarray(model.classes_)
    scores = np.asarray(model.decision_function(graphs), dtype=np.float64)
    number = {value: i for i, value in enumerate(classes.tolist())}
    columns = [number.get(value, -1) for value in own.tolist()]
    table = np.full((len(target), len(classes)), -np.inf)
    table[:, [c for c in columns if c >= 0]] = _two_columns(scores)[:, [c >= 0 for c in columns]]
    return np.array([number.get(p, -1) for p in predicted.tolist()]), _margins(table, target)


def _two_columns(scores: Values) -> Values:
    return np.column_stack([-scores.ravel(), scores.ravel()]) / 2 if scores.size == len(scores) else scores


def _margins(scores: Values, target: NDArray[np.int64]) -> Values:
    """Score of the true class less the best of the others, (n,)."""
    everyone = np.arange(len(target))
    others = scores.copy()
    others[everyone, target] = -np.inf
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(scores[everyone, target] - others.max(axis=1), posinf=0.0, neginf=0.0)


class _Classifier(PropagationClassifier):
    """Remembers how it was chosen, so that predictions of held-out graphs cost nothing."""

    def _keep(self, learned: Learned) -> None:
        super()._keep(learned)
        self.learned = learned


class _Regressor(PropagationRegressor):
    def _keep(self, learned: Learned) -> None:
        super()._keep(learned)
        self.learned = learned


def _learned(graphs: GraphDatabase, target: NDArray[Any], classes: Any, seed: Any, jobs: Any) -> Explained:
    """Choose and train a model; predict each graph by what was learned from the other folds."""
    many = len(graphs) > MANY
    folds = choosing_folds(target, FOLDS, None, None, draw_seed(seed) % 2**31)
    options: dict[str, Any] = {
        "kernel": live_kernels(graphs, many),
        "cv": folds or None,
        "random_state": seed,
        "n_jobs": jobs,
    }
    if many:
        options |= {"C": MANY_COSTS, "t_max": MANY_STEPS, "solver": "linear", "normalize": True}
    elif classes is not None and len(classes) > FEW_CLASSES:
        options["solver"] = "linear"
    if classes is None:
        return _regression(_Regressor(**options), graphs, target, folds)
    return _classification(_Classifier(**options), graphs, target, classes, folds)


def live_kernels(graphs: GraphDatabase, many: bool) -> list[Any]:
    """Return kernels whose codes the page can compute, by what the graphs carry."""
    column = graphs.label_column
    labels: dict[str, Any] = {}
    if not isinstance(column, LabelColumn) or not column.observed.any():
        labels = {"labels": "degree" if graphs.is_unweighted else None}
    edges: dict[str, Any] = {"edge_labels": graphs.edge_label_column is not None}
    refined = WeisfeilerLehman(n_iter=4, base_kernel="intersection", **labels, **edges)
    complete = not isinstance(column, LabelColumn) or bool(column.observed.all())
    if many or not graphs.is_unweighted or not complete:
        return [refined]
    summed = Diffusion(0.5, "none")
    common: dict[str, Any] = {"base_kernel": "intersection", "t_max": 4, **labels}
    return [PropagationKernel(propagation=summed, **edges, **common), refined]


def _classification(
    model: Any, graphs: GraphDatabase, target: NDArray[Any], classes: Any, folds: Any
) -> Explained:
    model.fit(graphs, classes[target])
    found = held_out_decisions(model.learned.selection, target, folds, Classification(None, None))
    predictions, margins = np.full(len(target), -1), np.zeros(len(target))
    for held, decisions in found:
        predictions[held] = model.layout_.predictions(decisions)
        margins[held] = _margins(_two_columns(model.layout_.scores(decisions)), target[held])
    del model.learned
    return Explained(model, predictions, margins, _held_out(folds))


def _regression(model: Any, graphs: GraphDatabase, target: Values, folds: Any) -> Explained:
    model.fit(graphs, target)
    mean, unit = target.mean(), target.std() or 1.0
    task = Regression(None, None, mean, unit)
    predictions = np.full(len(target), np.nan)
    for held, decisions in held_out_decisions(model.learned.selection, (target - mean) / unit, folds, task):
        predictions[held] = unit * decisions[:, 0] + mean
    del model.learned
    return Explained(model, predictions, np.abs(predictions - target), _held_out(folds))


def _held_out(folds: Any) -> str:
    return f"predicted in {len(folds)}-fold cross-validation, by models that had not seen the graph"
