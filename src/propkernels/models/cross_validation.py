"""evaluate: cross-validation of models and kernels, repeated with new folds and seeds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, confusion_matrix, get_scorer_names
from sklearn.pipeline import Pipeline

from propkernels._utils.cells import are_classes, has_fractions
from propkernels._utils.checks import check_integer, kind_of, shown
from propkernels._utils.parallel import run_threads, workers
from propkernels._utils.progress import Progress, ProgressBar
from propkernels._utils.typing import Column, Estimator, Folding, Indices, Matrix, Scoring, Seed, Target
from propkernels.convert.check import check_graphs
from propkernels.graphs.grid_database import Graphs, GraphsWithTargets
from propkernels.kernels.neighborhoods import named_kernel
from propkernels.models.choose import redrawn
from propkernels.models.classifier import PropagationClassifier
from propkernels.models.evaluation_result import Choice, Evaluation
from propkernels.models.folds import (
    LEAVE_ONE_OUT,
    Seeds,
    check_folds,
    check_groups,
    draw_seeds,
    most_folds,
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
    known_targets,
)
from propkernels.novelty.applicability import foreign_graphs_allowed

DEFAULT_FOLDS = 10
ABSOLUTE = "neg_mean_absolute_error"
Scorer = Callable[[Any, Any, Any], float]


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
    smallest, largest, what = most_folds(values, numbers, is_stratified)
    if cv is None:
        cv = max(2, min(DEFAULT_FOLDS, smallest))
        if cv < DEFAULT_FOLDS:
            few = "a single graph" if smallest == 1 else f"{smallest} graphs"
            why = f"the smallest class has {few}" if what == "class" else f"there are {smallest} {what}"
            warnings.warn(f"{cv} folds instead of {DEFAULT_FOLDS}: {why}", UserWarning, stacklevel=2)
    elif isinstance(cv := check_folds(cv, "cv"), int) and cv > largest:
        limit = "the size of the largest class" if what == "class" else f"the number of {what}"
        raise ValueError(f"cv must be at most {largest}, {limit}; got {cv}")
    metric, scorer = resolve_metric(scoring, is_classes, cv == LEAVE_ONE_OUT and groups is None)
    seeds = draw_seeds(random_state, n_repeats)
    splits = [split(values, cv, numbers, is_stratified, seed.outer) for seed in seeds]
    with (
        workers(n_jobs),
        stopping_allowed(),
        foreign_graphs_allowed(),
        ProgressBar("evaluate: folds", sum(map(len, splits)), progress=progress) as bar,
    ):
        warnings.filterwarnings("ignore", message="class.* hold it out do not know the class")  # by number
        runs = [
            _run(fitted, graphs, values, scorer, seed, folds, bar.step)
            for seed, folds in zip(seeds, splits, strict=True)
        ]
    parts = [np.asarray(test, dtype=np.int64).tobytes() + b"|" for folds in splits for _, test in folds]
    confusion = None
    if is_stratified:
        numbers_of_classes = np.unique(values)
        counts = [
            confusion_matrix(values[test], one.predicted, labels=numbers_of_classes)
            for run, folds in zip(runs, splits, strict=True)
            for one, (_, test) in zip(run, folds, strict=True)
        ]
        confusion = np.sum(counts, axis=0)
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
        split=sha256(b"".join(parts)).hexdigest()[:16],
        classes=_class_names(data, target, known) if is_stratified else (),
        confusion=confusion,
    )


class _FoldResult(NamedTuple):
    score: float
    choice: Choice
    seconds: float
    predicted: NDArray[Any]


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
        seconds, new = perf_counter() - start, _taken(graphs, test)
        predicted = np.asarray(fitted.predict(new))
        score = score_model(scorer, fitted, new, values[test], predicted)
        tell(1)
        last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        choice = Choice(getattr(last, "t_max_", None), float(getattr(last, "C_", np.nan)))
        return _FoldResult(score, choice, seconds, predicted)

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
    if known.target.ndim == 2:
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


class FoldClassifier(ClassifierMixin, FoldRegressor):
    """Classifier of two classes with given predictions and values of ``decision_function``."""

    classes_ = np.array([0, 1])

    def __init__(self, predicted: NDArray[Any], scores: Matrix | None = None) -> None:
        super().__init__(predicted)
        self.scores = scores

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return np.asarray(self.scores)[X]

    def predict_proba(self, X: Any) -> Matrix:
        """Return the logistic function of the scores, without calibration."""
        chances = expit(self.decision_function(X))
        return np.column_stack([1 - chances, chances])


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
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        examples = "accuracy, balanced_accuracy, f1, roc_auc, average_precision; r2, neg_mean_absolute_error"
        raise ValueError(f"scoring {scoring!r} is not a scorer of scikit-learn, such as {examples}")
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be the name of a scorer or a function, got {shown(scoring)}")
    fold = FoldClassifier if is_classification else FoldRegressor
    scorer: Scorer = check_scoring(fold(np.zeros(0)), scoring)
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), scorer


def score_model(
    scorer: Scorer, model: Any, graphs: Any, truth: NDArray[Any], predicted: NDArray[Any]
) -> float:
    """Return the score of a fitted model on test graphs; with several targets, the mean over columns.

    A column is scored on the graphs with an entry; columns of labels need positive and negative graphs.
    """
    if truth.ndim == 1:
        return float(scorer(model, graphs, truth))
    is_class, scores = hasattr(model, "classes_"), []
    decided = model.decision_function(graphs) if hasattr(model, "decision_function") else predicted
    for column, values in enumerate(truth.T):
        known = np.flatnonzero(~np.isnan(values))
        if len(np.unique(values[known])) > is_class:
            fold, own = FoldRegressor(predicted[known, column]), values[known]
            if is_class:
                fold, own = (
                    FoldClassifier(fold.predicted.astype(int), decided[known, column]),
                    own.astype(int),
                )
            scores.append(scorer(fold, np.arange(len(known)), own))
    return float(np.mean(scores)) if scores else float("nan")
