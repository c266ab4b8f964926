"""Texts of predictions for captions: the class with its probability, or the number, and how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase

Database = GraphDatabase | GridDatabase


def forecast(model: Any, graph: Database, coverage: float | None, column: Any = None) -> str:
    """Return the prediction for one graph as a text, with its set of classes or interval at a coverage.

    Parameters
    ----------
    model : fitted classifier or regressor
    graph : GraphDatabase or GridDatabase
        One graph.
    coverage : float or None
        None: without a set or interval.
    column : int, optional
        Of several targets, the one to tell; by default the first.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.WeisfeilerLehman(t_max=1)
    >>> classifier = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
    >>> forecast(classifier, data.graphs[[0]], 0.9)
    'predicted apart (0.94); 90 % set: apart'
    >>> regressor = pk.PropagationRegressor(kernel=kernel, random_state=0)
    >>> forecast(regressor.fit(data.graphs, data.graphs.graph_sizes), data.graphs[[0]], 0.9)
    'predicted 18; 90 % interval: 18 to 18'
    """
    if hasattr(model, "classes_"):
        return _of_class(model, graph, coverage, column)
    value = np.ravel(model.predict(graph))
    at = column if isinstance(column, int) and len(value) > 1 else 0
    text = f"predicted {value[at]:.3g}"
    if coverage is None:
        return text
    low, high = model.predict_interval(graph, coverage).reshape(-1, 2)[at].tolist()
    return f"{text}; {100 * coverage:g} % interval: {low:.3g} to {high:.3g}"


def _of_class(model: Any, graph: Database, coverage: float | None, column: Any) -> str:
    """Return class and probability; of several labels, the value of one."""
    names, chances = _names(model), np.ravel(model.predict_proba(graph))
    predicted = np.atleast_1d(np.asarray(model.predict(graph))[0])
    if len(predicted) > 1:
        at = column if isinstance(column, int) else 0
        names, chances = ["0", "1"], np.array([1 - chances[at], chances[at]])
        number = int(predicted[at])
    else:
        at, number = 0, model.classes_.tolist().index(predicted.tolist()[0])
    text = f"predicted {names[number]} ({chances[number]:.2f})"
    if coverage is None:
        return text
    inside = model.predict_set(graph, coverage).reshape(-1, len(names))[at]
    listed = ", ".join(name for name, is_in in zip(names, inside.tolist(), strict=True) if is_in)
    return f"{text}; {100 * coverage:g} % set: {listed or 'empty'}"


def _names(model: Any) -> list[str]:
    names = getattr(model, "class_names_", None)
    return [str(name) for name in (model.classes_.tolist() if names is None else names)]
