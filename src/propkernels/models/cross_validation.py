"""evaluate: cross-validation of models and kernels, repeated with new folds and seeds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.pipeline import Pipeline

from propkernels._utils.cells import are_classes, has_fractions
from propkernels._utils.checks import check_integer, kind_of, shown
from propkernels._utils.parallel import run_threads, workers
from propkernels._utils.progress import Progress, ProgressBar
from propkernels._utils.typing import Column, Estimator, Folding, Scoring, Seed, Target
from propkernels.convert.check import check_graphs
from propkernels.graphs.grid_database import Graphs, GraphsWithTargets
from propkernels.kernels.neighborhoods import named_kernel
from propkernels.models.choose import redrawn
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.evaluation_result import Choice, Evaluation
from propkernels.models.folds import (
    LEAVE_ONE_OUT,
    Indices,
    Seeds,
    check_folds,
    check_groups,
    draw_seeds,
    split,
)
from propkernels.models.model import stopping_allowed
from propkernels.models.regressor import PropagationRegressor
from propkernels.models.targets import (
    Known,
    check_labels,
    check_numbers,
    check_several,
    check_target,
    has_columns,
    known_targets,
)
from propkernels.novelty.applicability import foreign_graphs_allowed

DEFAULT_FOLDS = 10
ABSOLUTE = "neg_mean_absolute_error"
Scorer = Callable[[Any, Any, Any], float]
Matrix = NDArray[np.float64]


def evaluate(
    graphs: GraphsWithTargets | Graphs,
    target: Target | None = None,
    model: Estimator | str | None = None,
    *,
    cv: Folding = None,
    n_repeats: int = 1,
    groups: Column | None = None,
    scoring: Scoring = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Evaluation:
    """Return the cross-validated score of a model, by default the one that ``PropagationClassifier()`` gives.

    Every fold fits a copy of the model on its training part, which includes all choices, and scores it on the
    test part. Repeats have new folds and new hash functions; their spread says how much a score depends on
    the seed.

    Parameters
    ----------
    graphs : Dataset, GraphDatabase or sequence of graphs
        The graphs; for a pipeline, whatever its first step takes, such as SMILES.
    target : array-like of shape (n,) or (n, columns), optional
        Class or number of each graph; None: that of the data set. Graphs whose target is missing (None or
        NaN) are left out, with a warning that counts them. Of several columns, entries may be missing (NaN);
        columns of 0 and 1 are labels.
    model : estimator or str, optional
        A classifier or regressor of graphs, a pipeline that ends in one, or a kernel, which is evaluated as
        the only candidate of the default model: t_max, C and plain or normalized are chosen on each training
        part. Copies are fitted. None: :class:`PropagationClassifier` or :class:`PropagationRegressor`.
    cv : int, "loo", splitter, iterable or None, default=None
        Folds. A number: shuffled folds, stratified by class; "loo": leave out one graph at a time (with
        ``groups``: one group); or a scikit-learn splitter, or pairs of training and test graphs. None: 10, or
        as many as the smallest class has graphs, with a warning that says so.
    n_repeats : int, default=1
        Number of repeats.
    groups : array-like of shape (n,), optional
        Group of each graph: graphs of one group are never split into training and test.
    scoring : str, callable or None, default=None
        The name of a scorer of scikit-learn ("roc_auc", "balanced_accuracy", "f1", "r2",
        "neg_mean_absolute_error", ...), or a function ``scorer(estimator, X, y)``. None: accuracy, or R^2 for
        numbers (one graph at a time: the negative absolute error). With several targets, the mean over the
        columns.
    random_state : int, RandomState or None
        Seed of folds and hash functions. Models evaluated with the same seed use the same folds.
    n_jobs : int or None
        Threads over folds; None is one, -1 all cores. Models without ``n_jobs`` use spare ones.
    progress : bool or None, default=None
        None: a progress bar on terminals and in notebooks, after two seconds; True: always; False: never.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError, TypeError
        If the target or a parameter is invalid; raised before anything is computed.

    See Also
    --------
    propkernels.models.Evaluation : The result.
    PropagationClassifier : The default model.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281. doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> result = pk.evaluate(data, model=pk.PropagationKernel(t_max=3), cv=5, random_state=0)
    >>> result.scores.shape, result.mean > 0.7
    ((1, 5), True)
    """
    start, data = perf_counter(), graphs
    n_repeats = check_integer(n_repeats, "n_repeats", 1)
    model = named_kernel(model)
    graphs, known, values, is_classes = _unpack(model, data, target)
    fitted = _as_model(model, is_classes)
    known.check_cv(cv)
    known.warn(stacklevel=3)
    numbers = check_groups(known.take(groups), len(values))
    is_stratified = is_classes and values.ndim == 1
    cv = default_folds(values, numbers, is_stratified) if cv is None else check_folds(cv, "cv")
    _check_number(cv, values, numbers, is_stratified)
    metric, scorer = resolve_metric(scoring, is_classes, cv == LEAVE_ONE_OUT and groups is None)
    seeds = draw_seeds(random_state, n_repeats)
    splits = [split(values, cv, numbers, is_stratified, seed.outer) for seed in seeds]
    with (
        workers(n_jobs),
        stopping_allowed(),
        foreign_graphs_allowed(),
        ProgressBar("evaluate: folds", sum(map(len, splits)), progress=progress) as bar,
    ):
        runs = [
            _run(fitted, graphs, values, scorer, seed, folds, bar.step)
            for seed, folds in zip(seeds, splits, strict=True)
        ]
    confusion = None
    if is_stratified:
        n_classes = len(np.unique(values))
        confusion = np.sum([fold.recorder.confusion(n_classes) for run in runs for fold in run], axis=0)
    return Evaluation(
        data=str(getattr(data, "name", "graphs")),
        kernel=type(fitted if model is None else model).__name__,
        scores=np.array([[fold.score for fold in run] for run in runs]),
        choices=tuple(tuple(fold.choice for fold in run) for run in runs),
        kernel_seconds=tuple(sum(fold.seconds for fold in run) for run in runs),
        seconds=perf_counter() - start,
        metric=metric,
        protocol=_protocol(cv, numbers is not None, is_stratified),
        test_ratio=float(np.mean([len(test) / len(train) for folds in splits for train, test in folds])),
        split=split_digest(splits),
        classes=_class_names(data, target, known) if is_stratified else (),
        confusion=confusion,
    )


class _FoldResult(NamedTuple):
    score: float
    choice: Choice
    seconds: float
    recorder: Recorder


def _run(
    model: Any,
    graphs: Any,
    values: NDArray[Any],
    scorer: Scorer,
    seeds: Seeds,
    folds: Sequence[tuple[Indices, Indices]],
    tell: Callable[[int], None],
) -> list[_FoldResult]:
    """Return the results of the folds of one repeat."""

    def one(fold: tuple[Indices, Indices]) -> _FoldResult:
        train, test = fold
        start = perf_counter()
        fitted = redrawn(model, seeds.kernel).fit(_taken(graphs, train), values[train])
        seconds, recorder = perf_counter() - start, Recorder(scorer)
        score = score_model(recorder, fitted, _taken(graphs, test), values[test])
        tell(1)
        last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        choice = Choice(getattr(last, "t_max_", None), float(getattr(last, "C_", np.nan)))
        return _FoldResult(score, choice, seconds, recorder)

    return run_threads(one, folds, uses_blas=True)


def _taken(graphs: Any, places: Indices) -> Any:
    return [graphs[i] for i in places] if isinstance(graphs, list) else graphs[places]


def _as_model(model: Any, is_classes: bool) -> Any:
    """Return a model with ``predict``; a kernel becomes the only candidate of the default model."""
    default = PropagationClassifier if is_classes else PropagationRegressor
    if model is None:
        return default()
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"model must be an estimator, got {shown(model)}")
    if hasattr(model, "predict"):
        return model
    if not hasattr(model, "fit_transform"):
        raise TypeError(f"model must have predict, or be a kernel with fit_transform, got {shown(model)}")
    return default(kernel=model)


def _protocol(cv: Any, has_groups: bool, is_stratified: bool) -> str:
    """Return the split in words."""
    if cv == LEAVE_ONE_OUT:
        return "leave-one-group-out" if has_groups else "leave-one-out"
    if not isinstance(cv, int):
        return type(cv).__name__ if hasattr(cv, "split") else "given folds"
    return f"{'stratified ' if is_stratified else ''}{cv}-fold" + (" by groups" if has_groups else "")


def _check_number(cv: Any, target: NDArray[Any], groups: Any, is_stratified: bool) -> None:
    """Raise if there are more folds than graphs of the largest class, graphs or groups."""
    if groups is not None:
        most, limit = len(np.unique(groups)), "the number of groups"
    elif is_stratified:
        most, limit = int(np.bincount(target).max()), "the size of the largest class"
    else:
        most, limit = len(target), "the number of graphs"
    if isinstance(cv, int) and cv > most:
        raise ValueError(f"cv must be at most {most}, {limit}; got {cv}")


def default_folds(target: NDArray[Any], groups: Any, is_classification: bool) -> int:
    """Return 10 folds, or the size of the smallest class (or number of groups or graphs); at least 2."""
    if groups is not None:
        most, what = len(np.unique(groups)), "there are {} groups"
    elif is_classification:
        most, what = int(np.bincount(target).min()), "the smallest class has {} graphs"
    else:
        most, what = len(target), "there are {} graphs"
    n_folds = max(2, min(DEFAULT_FOLDS, most))
    if n_folds < DEFAULT_FOLDS:
        reason = what.format(most)
        warnings.warn(f"{n_folds} folds instead of {DEFAULT_FOLDS}: {reason}", UserWarning, stacklevel=3)
    return n_folds


def split_digest(splits: Sequence[Sequence[tuple[Indices, Indices]]]) -> str:
    """Return a digest of the test parts of all folds."""
    digest = sha256()
    for folds in splits:
        for _, test in folds:
            digest.update(np.ascontiguousarray(test, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]


def _class_names(data: Any, target: Any, known: Known) -> tuple[str, ...]:
    """Return the names of the classes, in the order of their numbers."""
    values = np.unique(known.target)
    names = getattr(data, "target_names", ()) if target is None else ()
    return tuple(map(str, names if len(names) == len(values) else values.tolist()))


def _unpack(model: Any, data: Any, target: Any) -> tuple[Any, Known, NDArray[Any], bool]:
    """Return the graphs with a target, their positions, class numbers or targets, and whether classes."""
    if target is None and not (hasattr(data, "graphs") and hasattr(data, "target")):
        raise TypeError(f"evaluate needs a target, or a data set with one; got {kind_of(data)} alone")
    graphs = getattr(data, "graphs", data)
    graphs = list(graphs) if isinstance(model, Pipeline) else check_graphs(graphs)
    known = known_targets(data.target if target is None else target, len(graphs))
    graphs, is_regression = _taken(graphs, known.places), _is_regression(model, known.target)
    if has_columns(known.target):
        checked: Any = (check_several if is_regression else check_labels)(known.target, len(graphs))
    elif is_regression:
        checked = check_numbers(known.target, len(graphs), known.places)
    else:
        checked = check_target(known.target, len(graphs))
    return graphs, known, checked, not is_regression


def _is_regression(model: Any, target: Any) -> bool:
    """Whether to predict numbers: for regressors, and for floats with fractions or many values."""
    kind = getattr(model, "_estimator_type", None)
    if hasattr(model, "predict"):
        tags = getattr(model, "__sklearn_tags__", None)
        kind = tags().estimator_type if tags is not None else kind
        return kind == "regressor"
    values = np.asarray(target)
    if values.ndim == 2:
        numbers = values.astype(np.float64)
        return not bool(np.isin(numbers[~np.isnan(numbers)], (0, 1)).all())
    if values.ndim != 1 or values.dtype.kind != "f":
        return False
    return has_fractions(values) or (bool(np.isfinite(values).all()) and not are_classes(values.astype(int)))


class _AnyClassifier(ClassifierMixin, BaseEstimator):
    """Placeholder classifier for scikit-learn's check of a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


class _AnyRegressor(RegressorMixin, BaseEstimator):
    """Placeholder regressor for scikit-learn's check of a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


def resolve_scorer(scoring: Any, is_classification: bool) -> Scorer | None:
    """Return the scorer of a name; a function ``scorer(estimator, X, y)`` and None are returned unchanged.

    Examples
    --------
    >>> resolve_scorer("roc_auc", True) is not None, resolve_scorer(None, True)
    (True, None)
    """
    if scoring is None:
        return None
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        examples = "accuracy, balanced_accuracy, f1, roc_auc, average_precision; r2, neg_mean_absolute_error"
        raise ValueError(f"scoring {scoring!r} is not a scorer of scikit-learn, such as {examples}")
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be the name of a scorer or a function, got {shown(scoring)}")
    scorer: Scorer = check_scoring(_AnyClassifier() if is_classification else _AnyRegressor(), scoring)
    return scorer


class FoldClassifier(ClassifierMixin, BaseEstimator):
    """Classifier with given scores; X holds positions of rows.

    Parameters
    ----------
    classes : ndarray
    scores : ndarray of shape (n,) or (n, classes)
        Values of ``decision_function``.
    predicted : ndarray of shape (n,)
        Predicted classes.
    """

    def __init__(self, classes: NDArray[Any], scores: Matrix, predicted: NDArray[Any]) -> None:
        self.classes, self.scores, self.predicted = classes, scores, predicted
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Any:
        """Return self."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted classes."""
        return self.predicted[X]

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores."""
        return self.scores[X]

    def predict_proba(self, X: Any) -> Matrix:
        """Return the logistic or softmax function of the scores, without calibration."""
        scores = self.scores[X]
        if scores.ndim == 1:
            return np.column_stack([1 - expit(scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))


class FoldRegressor(RegressorMixin, BaseEstimator):
    """Regressor with given predictions; X holds positions of rows."""

    def __init__(self, predicted: NDArray[Any]) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> Any:
        """Return self."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted values."""
        return self.predicted[X]


def column_mean(score: Callable[[int, NDArray[np.int64]], float], truth: Matrix, needs_two: bool) -> float:
    """Return the mean score of the columns of a target, each over the graphs with an entry.

    With ``needs_two``, columns with fewer than two different values are left out.
    """
    scores = []
    for column in range(truth.shape[1]):
        observed = np.flatnonzero(~np.isnan(truth[:, column]))
        if len(np.unique(truth[observed, column])) >= (2 if needs_two else 1):
            scores.append(score(column, observed))
    return float(np.mean(scores)) if scores else float("nan")


def resolve_metric(scoring: Any, is_classification: bool, leaves_one_out: bool) -> tuple[str, Scorer]:
    """Return the name of a scorer and the scorer; None means accuracy, or R^2 for regression.

    In leave-one-out, None means the absolute error for regression.

    Examples
    --------
    >>> resolve_metric(None, True, False)[0], resolve_metric(None, False, True)[0]
    ('accuracy', 'neg_mean_absolute_error')
    """
    if scoring is None:
        scoring = "accuracy" if is_classification else ABSOLUTE if leaves_one_out else "r2"
    if leaves_one_out and scoring == "r2":
        raise ValueError(f'scoring="r2" needs more than one graph per fold; "{ABSOLUTE}" does not')
    scorer = resolve_scorer(scoring, is_classification)
    assert scorer is not None
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), scorer


class Recorder:
    """Scorer that also stores true and predicted values.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the score, and store the predictions."""
        self.pairs.append((np.asarray(y), np.asarray(estimator.predict(X))))
        return float(self.scorer(estimator, X, y))

    def confusion(self, n_classes: int) -> NDArray[np.int64]:
        """Return the confusion matrix: true classes 0, 1, ... by row, predicted classes by column."""
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        for truth, predicted in self.pairs:
            np.add.at(counts, (truth.astype(np.int64), predicted.astype(np.int64)), 1)
        return counts


def score_model(scorer: Scorer, model: Any, graphs: Any, truth: NDArray[Any]) -> float:
    """Return the score of a fitted model on test graphs; with several targets, the mean over columns.

    A column is scored on the graphs with an entry; columns of labels need positive and negative graphs.
    """
    if truth.ndim == 1:
        return float(scorer(model, graphs, truth))
    predicted = np.asarray(model.predict(graphs))
    if not hasattr(model, "classes_"):

        def number(column: int, known: NDArray[np.int64]) -> float:
            fold = FoldRegressor(predicted[known, column])
            return float(scorer(fold, np.arange(len(known)), truth[known, column]))

        return column_mean(number, truth, False)
    scores = model.decision_function(graphs) if hasattr(model, "decision_function") else predicted

    def label(column: int, known: NDArray[np.int64]) -> float:
        fold = FoldClassifier(np.array([0, 1]), scores[known, column], predicted[known, column].astype(int))
        return float(scorer(fold, np.arange(len(known)), truth[known, column].astype(int)))

    return column_mean(label, truth, True)
