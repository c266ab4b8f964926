"""The model of a page: a fitted model of the user, or the default model with held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.explain.decisions import DecisionLayout
from propkernels.explain.rule import Rule, dual_members
from propkernels.explorer.carried import CarriedRule, carried_rule, refusal
from propkernels.explorer.page_codes import NotLive, code_function
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.defaults import default_kernels, has_views
from propkernels.models.regressor import PropagationRegressor

Values = NDArray[np.float64]
MANY = 6000  # with more graphs, a single kernel is used without model selection
MANY_COSTS, MANY_STEPS = (10.0,), 3
SAMPLE = 100  # graphs on which kernels are fitted to check that the page supports them


@dataclass(frozen=True)
class Explained:
    """A model and its predictions for the graphs of a page.

    Attributes
    ----------
    model : PropagationClassifier or PropagationRegressor
    carried : CarriedRule
        The decision rule, serialized for the page.
    predictions : ndarray of shape (n,)
        Class numbers (-1: none) or real numbers (NaN: none).
    margins : ndarray of shape (n,)
        Score of the true class minus the best other score; for regression, the absolute error.
    how : str
        Origin of the predictions in a few words, for the header.
    source : str
        Origin of the predictions as a sentence.
    """

    model: Any
    carried: CarriedRule
    predictions: NDArray[Any]
    margins: Values
    how: str
    source: str

    @property
    def layout(self) -> DecisionLayout:
        """Layout of the decision columns; without classes for regression."""
        return getattr(self.model, "_layout", DecisionLayout(0))


def given_model(
    model: Any, graphs: GraphDatabase, target: NDArray[Any], classes: NDArray[Any] | None
) -> Explained:
    """Return a fitted model with its predictions for the graphs of the page.

    Parameters
    ----------
    model : fitted PropagationClassifier or PropagationRegressor
    graphs : GraphDatabase
        The graphs of the page.
    target : ndarray
        Class numbers, or real numbers.
    classes : ndarray or None
        The classes; None for regression.

    Raises
    ------
    NotLive
        If the page cannot compute its decisions.
    """
    try:
        _check_carried(model, classes)
        carried = carried_rule(model.rule_, graphs)
    except NotLive as reason:
        raise refusal(model, reason) from None
    predictions, margins = _of_given(model, graphs, target, classes)
    if all(bins.are_those_of_training for bins in carried.bins):
        how = "given model, probably on its training graphs"
        source = (
            "Predictions are those of the given model. These graphs have exactly the bins of its training "
            "graphs, so they probably are its training graphs."
        )
    else:
        how = "given model; its training graphs may be among them"
        source = "Predictions are those of the given model, whose training graphs may be among these graphs."
    return Explained(model, carried, predictions, margins, how, source)


def _check_carried(model: Any, classes: NDArray[Any] | None) -> None:
    """Raise NotLive unless the model is a rule with intercepts for the classes or numbers of the target."""
    if not isinstance(getattr(model, "rule_", None), Rule):
        raise NotLive("it is not a fitted PropagationClassifier or PropagationRegressor")
    if getattr(model, "imputer_", None) is not None:
        raise NotLive("it fills in missing node labels before it decides")
    if getattr(model, "posterior_", None) is not None:
        raise NotLive("a Gaussian process predicts by probabilities")
    layout = getattr(model, "_layout", None)
    if (layout is not None and layout.multilabel) or (layout is None and len(model.intercept_) > 1):
        raise NotLive("it predicts several targets, and a page shows one target only")
    if (layout is None) != (classes is None):
        raise NotLive(
            "it predicts numbers, but the target has classes"
            if layout is None
            else "it predicts classes, but the target has numbers"
        )
    if classes is not None and set(model.classes_.tolist()) != set(classes.tolist()):
        raise NotLive(f"its classes are {model.classes_.tolist()}, but the target has {classes.tolist()}")


def comparing_rule(graphs: GraphDatabase) -> tuple[Any, Rule]:
    """Return a kernel and a rule without weights, for a page that only compares graphs."""
    kernel = quick_kernel(graphs).set_params(t_max=MANY_STEPS)
    members = dual_members(clone(kernel).fit(graphs), np.zeros((len(graphs), 1)))
    return kernel, Rule.of(members)


def _of_given(model: Any, graphs: Any, target: NDArray[Any], classes: Any) -> tuple[NDArray[Any], Values]:
    """Return predictions and margins of a fitted model."""
    predicted = np.asarray(model.predict(graphs))
    if classes is None:
        return predicted.astype(np.float64), np.abs(predicted - target)
    scores = np.asarray(model.decision_function(graphs), dtype=np.float64)
    number = {value: i for i, value in enumerate(classes.tolist())}
    columns = [number.get(value, -1) for value in np.asarray(model.classes_).tolist()]
    table = np.full((len(target), len(classes)), -np.inf)
    table[:, [c for c in columns if c >= 0]] = _two_columns(scores)[:, [c >= 0 for c in columns]]
    return np.array([number.get(p, -1) for p in predicted.tolist()]), _margins(table, target)


def _two_columns(scores: Values) -> Values:
    return np.column_stack([-scores.ravel(), scores.ravel()]) / 2 if scores.size == len(scores) else scores


def _margins(scores: Values, target: NDArray[np.int64]) -> Values:
    """Return the score of the true class minus the best other score: (n,)."""
    everyone = np.arange(len(target))
    others = scores.copy()
    others[everyone, target] = -np.inf
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(scores[everyone, target] - others.max(axis=1), posinf=0.0, neginf=0.0)


def learned_model(
    graphs: GraphDatabase, target: NDArray[Any], classes: NDArray[Any] | None, seed: Any
) -> Explained:
    """Train the default model, and predict each graph by the model without it.

    Parameters
    ----------
    graphs : GraphDatabase
        The graphs of the page.
    target : ndarray
        Class numbers, or real numbers.
    classes : ndarray or None
        The classes; None for regression.
    seed : random_state
    """
    options: dict[str, Any] = {
        "kernel": page_kernels(graphs, classes is None),
        "random_state": seed,
    }
    if len(graphs) > MANY:
        options |= {"C": MANY_COSTS, "t_max": MANY_STEPS, "solver": "linear", "normalize": True}
    if classes is None:
        model: Any = PropagationRegressor(**options).fit(graphs, target)
        predictions = model.held_out_[:, 0]
        margins = np.abs(predictions - target)
    else:
        model = PropagationClassifier(**options).fit(graphs, classes[target])
        known = ~np.isnan(model.held_out_).any(axis=1)
        predictions, margins = np.full(len(target), -1), np.zeros(len(target))
        predictions[known] = model._layout.predictions(model.held_out_[known])
        margins[known] = _margins(_two_columns(model.held_out_[known]), target[known])
    carried = carried_rule(model.rule_, graphs)
    source = (
        "Predictions are held out: each graph is predicted by a model that was chosen and learned without it."
    )
    return Explained(model, carried, predictions, margins, "default model, held out", source)


def page_kernels(graphs: GraphDatabase, is_regression: bool) -> list[Any] | None:
    """Return the candidate kernels; None: all default kernels, if the page supports each of them."""
    if len(graphs) > MANY:
        return [quick_kernel(graphs)]
    default = default_kernels(graphs, is_regression)
    kernels = [kernel for kernel in default if _is_carried(kernel, graphs)]
    column = graphs.label_column
    is_complete = column is None or bool(column.observed.all())  # otherwise, models impute labels
    if len(kernels) == len(default) and is_complete:
        return None
    return kernels or [quick_kernel(graphs)]


def _is_carried(kernel: Any, graphs: GraphDatabase) -> bool:
    """Whether the page supports the code function of a kernel."""
    parts = getattr(kernel, "kernels", None)
    if parts is not None:  # a sum
        return all(_is_carried(part, graphs) for part in parts)
    try:
        code_function(clone(kernel).fit(graphs[:SAMPLE])._counting.counter, graphs)
    except NotLive:
        return False
    return True


def quick_kernel(graphs: GraphDatabase) -> Any:
    """Return a Weisfeiler-Lehman kernel whose codes the page supports for any graphs."""
    column = graphs.label_column
    labels: str | None = "auto"
    if not isinstance(column, LabelColumn) or not column.observed.any():
        labels = None if graphs.has_parallel_edges else "degree"
    elif has_views(column):
        labels = "entries"
    edges = graphs.edge_label_column is not None
    return WeisfeilerLehman(t_max=4, base_kernel="intersection", labels=labels, edge_labels=edges)
