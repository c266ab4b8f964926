"""Questions for counterfactuals: another class, another label, another number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.explain.decision_columns import DecisionLayout
from propkernels.explain.find_counterfactuals import Question

Matrix = NDArray[np.float64]


def ask_class(layout: DecisionLayout, names: NDArray[Any], target: Any, before: Matrix) -> Question:
    """Return the question for another class: any other, or the named one.

    For two classes, the margin is the decision, signed towards the other class. For more, it is the lead of
    the named class over all others or, without a name, of the best other class over the present one. With
    several labels, the question is for a change of the label numbered ``target``.
    """
    if layout.multilabel:
        return _ask_label(layout, target, before)
    now = int(layout.predictions(before)[0])
    wanted = _class_number(names, target, now)

    def margins(decisions: Matrix) -> NDArray[np.float64]:
        scores = layout.scores(decisions)
        if layout.n_classes == 2:
            return scores[:, 0] if now == 0 else -scores[:, 0]
        if wanted is None:
            return np.asarray(np.delete(scores, now, axis=1).max(axis=1) - scores[:, now])
        return np.asarray(scores[:, wanted] - np.delete(scores, wanted, axis=1).max(axis=1))

    def judge(decisions: Matrix) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        predicted = layout.predictions(decisions)
        return margins(decisions), predicted != now if wanted is None else predicted == wanted

    def shown_value(decisions: Matrix) -> NDArray[np.float64]:
        return layout.scores(decisions)[:, 0] if layout.n_classes == 2 else margins(decisions)

    return Question(judge, shown_value, lambda d: np.asarray(names[layout.predictions(d)]), True)


def _class_number(names: NDArray[Any], target: Any, now: int) -> int | None:
    known = names.tolist()
    if target is None:
        return None
    if target not in known:
        raise ValueError(f"target must be one of the classes {known}, got {shown(target)}")
    if known.index(target) == now:
        raise ValueError(f"the predicted class of the graph is {shown(target)} already: name another target")
    return known.index(target)


def _ask_label(layout: DecisionLayout, target: Any, before: Matrix) -> Question:
    """Return the question for a change of one of several labels, numbered ``target``."""
    numbers = list(range(layout.n_classes))
    if target not in numbers:
        raise ValueError(f"target must be the number of one label, 0 to {numbers[-1]}; got {shown(target)}")
    had = bool(before[0, target] > 0)

    def judge(decisions: Matrix) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        column = decisions[:, target]
        return -column if had else column, (column > 0) != had

    return Question(judge, lambda d: d[:, target], lambda d: (d[:, target] > 0).astype(np.int64), True)


def ask_number(column: int, target: Any, before: Matrix) -> Question:
    """Return the question for a prediction beyond a number or, without one, for the largest change."""
    now = float(before[0, column])
    if target is not None and not (isinstance(target, (int, float, np.number)) and np.isfinite(target)):
        raise ValueError(f"target must be a finite number or None, got {shown(target)}")
    if target is not None and float(target) == now:
        raise ValueError(f"the prediction is {now:g} already: name another target")

    def judge(decisions: Matrix) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        values = decisions[:, column]
        if target is None:
            return np.abs(values - now), values != now
        margins = values - float(target) if now < float(target) else float(target) - values
        return margins, margins >= 0

    return Question(judge, lambda d: d[:, column], lambda d: d[:, column], target is not None)
