"""Validation of targets: missing entries, classes, numbers, and several columns per graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from propkernels._utils.cells import check_measurements, is_missing, typed_column

LARGEST = 1e150  # sums of squares of larger numbers overflow
SMALLEST_SPREAD = 1e-150  # squares of smaller differences are 0


@dataclass(frozen=True)
class Known:
    """Graphs that have a target.

    Attributes
    ----------
    places : ndarray of int64
        Positions of the graphs with a target.
    n_graphs : int
        Number of all graphs, with or without a target.
    target : ndarray
        Targets, without missing entries.
    """

    places: NDArray[np.int64]
    n_graphs: int
    target: NDArray[Any]

    @property
    def n_missing(self) -> int:
        """Number of graphs without a target."""
        return self.n_graphs - len(self.places)

    @property
    def sentence(self) -> str:
        """Number of graphs left out, as a clause; empty if all graphs have a target."""
        if not self.n_missing:
            return ""
        verb = "has no target and is" if self.n_missing == 1 else "have no target and are"
        return f"{self.n_missing:,} of {self.n_graphs:,} graphs {verb} left out"

    def take(self, values: Any) -> Any:
        """Return the graphs, weights or groups of the graphs with a target; None for None."""
        if values is None or not self.n_missing:
            return values
        return values[self.places] if hasattr(values, "graph_sizes") else np.asarray(values)[self.places]

    def warn(self, stacklevel: int = 3) -> None:
        """Warn about the number of graphs left out, if any."""
        if self.n_missing:
            warnings.warn(self.sentence, UserWarning, stacklevel=stacklevel)

    def check_cv(self, cv: Any) -> None:
        """Raise if cv is a list of folds of all graphs although graphs are left out."""
        if self.n_missing and isinstance(cv, Iterable) and not hasattr(cv, "split"):
            raise ValueError(
                f"{self.sentence}, but cv is a list of folds of all graphs: leave these graphs out first, "
                "or give a splitter"
            )


def known_targets(target: Any, n_graphs: int) -> Known:
    """Return the graphs with a target and their targets; with several columns, all graphs.

    Parameters
    ----------
    target : array-like of shape (n,) or (n, columns)
        None, NaN and masked entries are missing.
    n_graphs : int

    Raises
    ------
    ValueError
        If none of the graphs has a target.

    Examples
    --------
    >>> known = known_targets(["a", None, "b"], 3)
    >>> known.places.tolist(), known.target.tolist(), known.sentence
    ([0, 2], ['a', 'b'], '1 of 3 graphs has no target and is left out')
    """
    values, everyone = _as_array(target), np.arange(n_graphs)
    if values.shape != (n_graphs,) or not n_graphs:
        return Known(everyone, n_graphs, values)  # check_target and check_numbers report the fault
    gaps = is_missing(target if isinstance(target, np.ma.MaskedArray) else values)
    if gaps.all():
        raise ValueError(f"the target of all {n_graphs} graphs is missing: nothing can be learned")
    known = values[~gaps]
    typed = typed_column(known)
    if typed.dtype.kind != "U" or all(isinstance(value, str) for value in known.tolist()):
        known = typed  # else values of several types, which check_target and check_numbers refuse
    return Known(np.flatnonzero(~gaps), n_graphs, known)


def _as_array(target: Any) -> NDArray[Any]:
    """Return the target as an array; raise if its rows differ in length."""
    if isinstance(target, np.ma.MaskedArray) and target.ndim == 2:
        target = np.where(np.ma.getmaskarray(target), np.nan, target.data.astype(np.float64))
    try:
        values = np.asarray(target)
        if values.dtype.kind == "U" and values.ndim == 1:  # numbers among texts have become texts
            values = np.array(target, dtype=object)
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    except ValueError:
        raise ValueError(
            "target must hold one class or number per graph, or rows of one length; its rows differ in length"
        ) from None


def _wrong_length(n_values: int, n_graphs: int) -> str:
    """Return the message for a target of the wrong length; several values for one graph may be of nodes."""
    if n_graphs == 1 and n_values > 1:
        models = "NodeClassifier or NodeRegressor"
        return f"target has {n_values} values for 1 graph: for targets of nodes, use {models}"
    return f"target has {n_values} values for {n_graphs} graphs"


def check_target(target: Any, n_graphs: int) -> NDArray[np.int64]:
    """Return class labels as integers 0, 1, ...; raise if the target does not hold class labels."""
    labels = np.asarray(target)
    n_values = len(labels) if labels.ndim else 1
    if n_values != n_graphs:
        raise ValueError(_wrong_length(n_values, n_graphs))
    check_kinds(labels)
    with np.errstate(invalid="ignore"):  # type_of_target casts to integers
        kind = type_of_target(labels)
    if labels.ndim != 1 or kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: target must hold one class label per graph, got a {kind} target"
        )
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()
        raise ValueError(f"one class is not enough: target must have at least two classes, got only {only}")
    return np.asarray(numbers, dtype=np.int64)


def check_kinds(labels: NDArray[Any]) -> None:
    """Raise if labels cannot be sorted, such as strings together with numbers, or complex numbers."""
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: class labels must be numbers or strings")
    if labels.dtype != object or labels.ndim != 1:
        return
    try:
        sorted(set(labels.tolist()))
    except TypeError:
        names = " and ".join(sorted({type(label).__name__ for label in labels.tolist()}))
        raise TypeError(f"class labels must be all numbers or all strings, got {names}") from None


def check_labels(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return several labels per graph as 0 and 1, NaN if missing."""
    values = check_several(target, n_graphs)
    invalid = ~(np.isnan(values) | (values == 0) | (values == 1))
    if invalid.any():
        row, column = np.argwhere(invalid)[0]
        raise ValueError(
            f"Unknown label type: several targets must be 0, 1 or missing (NaN), "
            f"but row {row} of column {column} is {values[row, column]:g}"
        )
    return values


def check_several(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return several numbers per graph, NaN if missing; raise if a column is empty."""
    values = np.asarray(target)
    if len(values) != n_graphs or not values.shape[1]:
        rows = f"{len(values)} rows" if values.shape[1] else "no column"
        raise ValueError(f"target has {rows} for {n_graphs} graphs")
    values = np.where(is_missing(values), np.nan, values).astype(np.float64)
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise ValueError(f"column {int(np.argmax(empty))} of the target has no entry")
    check_size(values)
    return values


def check_numbers(target: Any, n_graphs: int, places: Any = None) -> NDArray[np.float64]:
    """Return one finite number per graph; raise if squares of the numbers would overflow.

    ``places`` holds the graph numbers for error messages, by default 0, 1, ...
    """
    numbers = np.asarray(target)
    n_values = len(numbers) if numbers.ndim else 1
    if n_values != n_graphs:
        raise ValueError(_wrong_length(n_values, n_graphs))
    if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
        check_measurements(numbers.ravel(), "target")
        raise ValueError(f"target must hold one number per graph, got an array of {numbers.dtype}")
    values = numbers.astype(np.float64)
    check_size(values, places, may_miss=False)
    return values


def check_size(values: NDArray[np.float64], places: Any = None, may_miss: bool = True) -> None:
    """Raise if numbers are not finite, or if squares of numbers or differences overflow or vanish."""
    rows = values.reshape(len(values), -1)
    odd = np.isinf(rows) | (np.isnan(rows) & (not may_miss))
    large = np.abs(rows) > LARGEST
    for wrong, what in ((odd, "finite"), (large, f"at most {LARGEST:g} in size")):
        if wrong.any():
            graph, column = np.argwhere(wrong)[0]
            name, value = graph if places is None else places[graph], rows[graph, column]
            advice = f" ({value:g}): give it in another unit, or its logarithm" if what != "finite" else ""
            raise ValueError(f"target must be {what}, but that of graph {name} is not{advice}")
    rows = rows[:, ~np.isnan(rows).all(axis=0)]
    spread = np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0) if rows.size else np.zeros(0)
    small = (spread > 0) & (spread < SMALLEST_SPREAD)
    if small.any():
        raise ValueError(
            f"target must differ by at least {SMALLEST_SPREAD:g} between graphs, and the largest difference "
            f"is {spread[small][0]:g}: give it in another unit"
        )


LEAST_WEIGHT = 1e-280  # sum of weights that can still be divided by
N_RANGES = 10  # of numbers, of which samples hold equal shares


@dataclass(frozen=True)
class ClassTarget:
    """Classes of a classifier as columns of least squares.

    Attributes
    ----------
    values : ndarray
        Number of each class, (n,), or labels 0, 1 or NaN, (n, labels).
    classes : ndarray
        The classes, sorted; with several labels, their numbers.
    weights : ndarray, (n,), or None
    """

    values: NDArray[Any]
    classes: NDArray[Any]
    weights: NDArray[np.float64] | None

    @property
    def multilabel(self) -> bool:
        """Whether there are several labels."""
        return self.values.ndim == 2

    @property
    def columns(self) -> NDArray[np.float64]:
        """1 for the class of a column and -1 for others; for two classes a single column, of the second."""
        if self.multilabel:
            return np.asarray(2 * self.values - 1)
        positive = np.arange(len(self.classes))[1 if len(self.classes) == 2 else 0 :]
        return np.where(self.values[:, None] == positive, 1.0, -1.0)

    @property
    def remark(self) -> str:
        """What little there is to learn from, as a sentence; empty if there is enough."""
        alone = [] if self.multilabel else self.classes[np.bincount(self.values) == 1].tolist()
        if not alone:
            return ""
        names = ", ".join(map(str, alone[:5])) + (", ..." if len(alone) > 5 else "")
        have = (
            f"class {names} has a single graph" if len(alone) == 1 else f"classes {names} have one graph each"
        )
        return f"{have}: models that hold it out do not know the class, and every set of classes contains it"

    @property
    def strata(self) -> NDArray[np.int64]:
        """The class of each graph; with several labels, how many it has."""
        return np.nansum(self.values, axis=1).astype(np.int64) if self.multilabel else self.values

    @classmethod
    def of(cls, y: NDArray[Any], n_graphs: int, weights: Any, class_weight: Any) -> ClassTarget:
        """Return the target of observed classes, with weights of graphs and of classes."""
        checked = check_weights(weights, n_graphs)
        if y.ndim == 2:
            labels = check_labels(y, n_graphs)
            if class_weight is not None:
                raise ValueError("class_weight is for one class per graph, not for several labels")
            return cls(labels, np.arange(labels.shape[1]), checked)
        values = check_target(y, n_graphs)
        if class_weight is not None:
            factors = compute_sample_weight(class_weight, np.asarray(y))
            check_weights(factors, n_graphs, "class_weight")
            checked = factors if checked is None else checked * factors
        return cls(values, np.unique(np.asarray(y)), checked)


@dataclass(frozen=True)
class NumberTarget:
    """Numbers of a regressor as columns of least squares.

    Attributes
    ----------
    values : ndarray, (n, columns)
        In units of the user.
    middle, unit : ndarray, (columns,)
        Mean and standard deviation (1 instead of 0).
    weights : ndarray, (n,), or None
    """

    values: NDArray[np.float64]
    middle: NDArray[np.float64]
    unit: NDArray[np.float64]
    weights: NDArray[np.float64] | None

    @property
    def columns(self) -> NDArray[np.float64]:
        """The numbers with the mean 0 and the variance 1 per column."""
        return np.asarray((self.values - self.middle) / self.unit)

    @property
    def remark(self) -> str:
        """What little there is to learn from, as a sentence; empty if there is enough."""
        constant = np.flatnonzero(np.nanmax(self.values, axis=0) == np.nanmin(self.values, axis=0))
        if not len(constant) or len(self.values) == 1:
            return ""
        which = "the target" if self.values.shape[1] == 1 else f"column {constant[0]} of the target"
        return f"{which} is constant, and so are its predictions: {self.middle[constant[0]]:g}"

    @property
    def strata(self) -> NDArray[np.int64]:
        """Ten ranges of the first column, with equally many graphs."""
        ranks = np.argsort(np.argsort(self.values[:, 0], kind="stable"), kind="stable")
        return ranks * N_RANGES // len(ranks)

    @classmethod
    def of(cls, y: NDArray[Any], n_graphs: int, weights: Any, places: Any = None) -> NumberTarget:
        """Return the target of observed numbers; ``places`` holds their positions for error messages."""
        numbers = check_several(y, n_graphs) if y.ndim == 2 else check_numbers(y, n_graphs, places)[:, None]
        spread = np.nanstd(numbers, axis=0)
        unit = np.where(spread == 0, 1.0, spread)
        return cls(numbers, np.nanmean(numbers, axis=0), unit, check_weights(weights, n_graphs))


def check_weights(
    sample_weight: Any, n_entries: int, name: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """Return one nonnegative weight per graph or node, not all zero; None for None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_entries, float(weights))
    if weights.shape != (n_entries,):
        raise ValueError(f"sample_weight has shape {weights.shape} for {n_entries} targets")
    with np.errstate(over="ignore", invalid="ignore"):
        total = weights.sum()
    if not LEAST_WEIGHT < total < np.inf or (weights < 0).any():
        raise ValueError(f"{name} must be finite, nonnegative and not all zero")
    return weights


def accuracy(target: NDArray[Any], predicted: NDArray[Any], weights: Any = None) -> float:
    """Return the share of right classes; of several labels, that of right entries among the observed ones."""
    if target.ndim == 1:
        return float(accuracy_score(target, predicted, sample_weight=weights))
    right, known = predicted == target, ~np.isnan(target)
    weights = np.ones(len(target)) if weights is None else np.asarray(weights)
    return float((weights @ (right & known)).sum() / (weights @ known).sum())


def explained_variance(target: NDArray[Any], predicted: NDArray[Any], weights: Any = None) -> float:
    """Return R^2; of several numbers, the mean over columns of R^2 on their observed entries."""
    if target.ndim == 1:
        return float(r2_score(target, predicted, sample_weight=weights))
    columns = zip(target.T, predicted.T, ~np.isnan(target.T), strict=True)
    own = np.ones(len(target)) if weights is None else np.asarray(weights)
    return float(np.mean([r2_score(true[k], guess[k], sample_weight=own[k]) for true, guess, k in columns]))
