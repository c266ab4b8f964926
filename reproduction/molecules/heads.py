"""What is put on top of features: linear models, forests, and SVMs with the Tanimoto kernel.

Heads see log(1 + count), SVMs the counts themselves. Columns that fewer than two training molecules have are
left out. The one setting of a linear model or SVM is chosen on a part of the training molecules that is held
out; forests have none. Tasks share the choice, and each has a machine of its own, learned from the molecules
that have it; the forests of a set without gaps learn all tasks at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import SVC, SVR

Values = NDArray[np.float64]
Rows = NDArray[np.int64]
Grid = tuple[float, ...]
N_TREES = 100
MOST_COLUMNS = 4_096  # of forests that predict numbers
MOST_DENSE = 30_000_000  # entries up to which forests get a dense table, which is faster
CHOOSING_TASKS = 4  # tasks that take part in a choice, at most
CHOOSING = 2_500  # molecules that take part in a choice, at most
SLICE = 2_000  # rows of a kernel at a time


@dataclass(frozen=True, eq=False)
class Fitted:
    """Scores of the test molecules, (n, tasks), and what was chosen."""

    scores: Values
    chosen: str


def score(target: Values, scores: Values, is_class: bool) -> float:
    """Mean ROC-AUC in percent over the tasks that have both classes, or the root mean squared error."""
    if not is_class:
        return float(np.sqrt(np.mean((target - scores) ** 2)))
    areas = []
    for column, found in zip(target.T, scores.T, strict=True):
        known = ~np.isnan(column)
        if len(np.unique(column[known])) == 2:
            areas.append(roc_auc_score(column[known], found[known]))
    return 100 * float(np.mean(areas))


def linear(features: csr_array, target: Values, train: Rows, test: Rows, is_class: bool) -> Fitted:
    """Logistic or ridge regression on log counts."""
    table = features[:, _common(features[train])].log1p()
    grid: Grid = (0.01, 0.1, 1.0) if is_class else (1.0, 10.0, 100.0)

    def decide(one: float, known: Rows, asked: Rows, column: Values) -> Values:
        if is_class:
            model: Any = LogisticRegression(C=one, solver="liblinear", random_state=0, max_iter=300)
            return model.fit(table[known], column[known]).decision_function(table[asked])
        model = Ridge(one, solver="sparse_cg", random_state=0)
        return model.fit(table[known], column[known]).predict(table[asked])

    name = "C" if is_class else "alpha"
    return _chosen(grid, decide, target, train, test, is_class, name)


def forest(features: csr_array, target: Values, train: Rows, test: Rows, is_class: bool) -> Fitted:
    """A random forest of 100 trees, at each split the square root of the columns.

    Numbers: a tenth of the columns, which are then at most the 4,096 that most training molecules have.
    """
    columns = _common(features[train], None if is_class else MOST_COLUMNS)
    table: Any = features[:, columns].log1p().astype(np.float32)
    table = table.toarray() if np.prod(table.shape) <= MOST_DENSE else table
    model: Any = RandomForestClassifier if is_class else RandomForestRegressor
    settings: dict[str, Any] = {"n_estimators": N_TREES, "random_state": 0}
    settings |= {} if is_class else {"max_features": 0.1}

    def fit(known: Rows, columns: Values) -> Values:
        fitted = model(**settings).fit(table[known], columns)
        if not is_class:
            return fitted.predict(table[test])
        shares = fitted.predict_proba(table[test])
        several = shares if isinstance(shares, list) else [shares]
        return np.column_stack([part[:, -1] for part in several])

    if not np.isnan(target[train]).any():
        known = target[train] if target.shape[1] > 1 else target[train, 0]
        return Fitted(fit(train, known).reshape(len(test), -1), "")
    every = [
        fit(known, target[known, task]).ravel()
        for task in range(target.shape[1])
        for known in [train[~np.isnan(target[train, task])]]
    ]
    return Fitted(np.column_stack(every), "")


def tanimoto_svm(features: csr_array, target: Values, train: Rows, test: Rows, is_class: bool) -> Fitted:
    """An SVM (numbers: support vector regression) with the Tanimoto similarity of counts as its kernel."""
    every = np.concatenate([train, test])
    kernel = tanimoto(features[every], features[train])
    columns, at = target[every], np.arange(len(every))
    grid: Grid = (0.3, 1.0, 3.0, 10.0)

    def decide(one: float, known: Rows, asked: Rows, column: Values) -> Values:
        settings: dict[str, Any] = {"C": one, "kernel": "precomputed", "cache_size": 1_000}
        machine: Any = SVC(**settings) if is_class else SVR(**settings)
        machine.fit(_part(kernel, known, known), column[known])
        new = _part(kernel, asked, known)
        return machine.decision_function(new) if is_class else machine.predict(new)

    return _chosen(grid, decide, columns, at[: len(train)], at[len(train) :], is_class, "C")


def tanimoto(rows: csr_array, columns: csr_array) -> NDArray[np.float32]:
    """Tanimoto similarity of counts: ab / (aa + bb - ab), as scikit-fingerprints defines it.

    Slices of rows at a time: as a sparse product, all of HIV would take three times the memory of the result.
    """
    own, other = (
        np.asarray(part.multiply(part).sum(axis=1), dtype=np.float32).ravel() for part in (rows, columns)
    )
    similarity = np.empty((rows.shape[0], columns.shape[0]), dtype=np.float32)
    for start in range(0, len(own), SLICE):
        at = slice(start, start + SLICE)
        common = (rows[at].astype(np.float32) @ columns.astype(np.float32).T).toarray()  # exact below 2^24
        either = own[at, None] + other[None, :] - common
        np.divide(common, either, out=similarity[at], where=either > 0)
        similarity[at][either <= 0] = 1
    return similarity


def _part(kernel: NDArray[np.float32], rows: Rows, columns: Rows) -> Values:
    """Rows and columns of a kernel in double precision, without a copy of the whole in between."""
    part = np.empty((len(rows), len(columns)))
    for at, row in enumerate(rows):
        part[at] = kernel[row, columns]
    return part


Decide = Callable[[float, Rows, Rows, Values], Values]
HEADS: dict[str, Callable[[csr_array, Values, Rows, Rows, bool], Fitted]] = {
    "linear": linear,
    "forest": forest,
    "SVM": tanimoto_svm,
}


def _chosen(
    grid: Grid, decide: Decide, target: Values, train: Rows, test: Rows, is_class: bool, name: str
) -> Fitted:
    """Choose a setting on a part of the training molecules, and learn all tasks with it."""
    some = _subsample(target, train, CHOOSING)
    ((inner, held),) = ShuffleSplit(1, test_size=0.25, random_state=0).split(some)
    inner, held = some[inner], some[held]
    tasks = [task for task in range(target.shape[1]) if _is_usable(target[inner, task], is_class)]
    tasks = [task for task in tasks if _is_usable(target[held, task], is_class)][:CHOOSING_TASKS]

    def validated(one: float) -> float:
        found = _decide_tasks(decide, one, target[:, tasks], inner, held)
        value = score(target[held][:, tasks], found, is_class)
        return value if is_class else -value

    best = max(grid, key=validated) if tasks else grid[1]
    return Fitted(_decide_tasks(decide, best, target, train, test), f"{name}={best:g}")


def _decide_tasks(decide: Decide, one: float, target: Values, train: Rows, test: Rows) -> Values:
    found = np.zeros((len(test), target.shape[1]))
    for task, column in enumerate(target.T):
        known = train[~np.isnan(column[train])]
        if len(np.unique(column[known])) > 1:
            found[:, task] = decide(one, known, test, column)
    return found


def _is_usable(column: Values, is_class: bool) -> bool:
    known = column[~np.isnan(column)]
    return bool(len(known)) and (not is_class or len(np.unique(known)) == 2)


def _common(training: csr_array, most: int | None = None) -> Rows:
    """Columns that at least two training molecules have; of these, those that most have."""
    counts = np.bincount(training.indices, minlength=training.shape[1])
    columns = np.flatnonzero(counts >= 2)
    return np.sort(columns[np.argsort(-counts[columns], kind="stable")[:most]])


def _subsample(target: Values, rows: Rows, most: int) -> Rows:
    """At most so many molecules; of one task with two classes, the rarer class stays whole, up to a half."""
    if len(rows) <= most:
        return rows
    shuffled = np.random.default_rng(0).permutation(rows)
    column = target[shuffled, 0]
    if target.shape[1] == 1 and len(np.unique(column)) == 2:
        rare = column == (column.mean() < 0.5)
        few, many = shuffled[rare][: most // 2], shuffled[~rare]
        shuffled = np.concatenate([few, many])
    return np.sort(shuffled[:most])
