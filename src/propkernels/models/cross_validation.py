"""evaluate: nested cross-validation, the protocol of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import are_classes, has_fractions
from propkernels._utils.checks import check_integer, kind_of
from propkernels._utils.progress import Progress, ProgressBar
from propkernels._utils.typing import Column, Estimator, Floats, Folding, Scoring, Seed, Steps, Target
from propkernels.convert.check import check_graphs
from propkernels.graphs.accepted import Graphs, GraphsWithTargets
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.models.candidates import (
    DEFAULT_COSTS,
    check_cost_grid,
    check_epsilons,
    check_steps,
    resolve_selection,
)
from propkernels.models.evaluation_result import Evaluation
from propkernels.models.folds import LEAVE_ONE_OUT, check_folds, check_groups, draw_seeds
from propkernels.models.kernel_sources import check_kernel
from propkernels.models.scoring import resolve_metric
from propkernels.models.study import (
    KernelStudy,
    ModelStudy,
    Protocol,
    Run,
    default_folds,
    split_digest,
)
from propkernels.models.support_vectors import foreign_graphs_allowed, stopping_allowed
from propkernels.models.targets import (
    Known,
    check_labels,
    check_numbers,
    check_several,
    check_target,
    has_columns,
    known_targets,
)

INNER_FOLDS = 5


def evaluate(
    graphs: GraphsWithTargets | Graphs,
    target: Target | None = None,
    kernel: Estimator | None = None,
    *,
    cv: Folding = None,
    inner_cv: Folding = INNER_FOLDS,
    repeats: int = 1,
    groups: Column | None = None,
    t_max: Steps = None,
    C: Floats | str = DEFAULT_COSTS,
    epsilon: Floats = 0.1,
    scoring: Scoring = None,
    selection: str = "auto",
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Evaluation:
    """Return the cross-validated score of a kernel with a C-SVM, or of a model, by nested cross-validation.

    The protocol of the paper (section "Experimental Protocol"): stratified k-fold cross-validation, repeated
    with new folds and new hash functions; for every fold, t_max and C are chosen by a
    stratified 5-fold cross-validation on its training part, ties going to the smaller t_max, then to the
    smaller C. Numeric targets are predicted by an SVR in the same way. A model that chooses its own
    parameters, such as :class:`PropagationClassifier`, is fitted on each training part instead.

    One pass over all graphs of a repeat computes the kernels for every t_max, and folds are slices of these
    matrices. This is exactly inductive: a graph's codes are a pure function of that graph and the seed, so
    the slices equal ``fit`` on the training graphs and ``transform`` of the test graphs. (Three settings do
    use all graphs, though never their classes: unobserved node labels start uniform over all observed labels,
    ``base_kernel="rbf"`` takes its width from all graphs, and attributes are standardized over all nodes,
    among which P2K also draws its sample points. A model uses training graphs only.)

    A kernel is divided by the mean of its training diagonal before it is passed to the SVM. This only
    reparametrizes C: one grid of C, at values where libsvm is fast, then fits kernels of any scale.

    Parameters
    ----------
    graphs : Dataset, GraphDatabase or sequence of graphs
        The graphs.
    target : array-like of shape (n,) or (n, columns), optional
        Class or number of each graph; None: that of the data set. Graphs whose target is missing (None or
        NaN) are left out, with a warning that counts them. Of several columns, entries may be missing (NaN);
        columns of 0 and 1 are labels.
    kernel : estimator, optional
        A kernel with ``fit_transform``; t_max is chosen if it has ``t_max`` and ``fit_transform_cumulative``.
        Copies are fitted, the kernel itself is not changed. Normalization is a parameter of the kernel.
        Or a classifier or regressor of graphs, with ``predict``, which chooses t_max and C itself. None:
        :class:`PropagationKernel`.
    cv : int, "loo", splitter, iterable or None, default=None
        Outer folds. A number: shuffled folds, stratified by class; "loo": leave out one graph at a time
        (with ``groups``: one group); or a scikit-learn splitter, or pairs of training and test graphs. None:
        10, or as many as the smallest class has graphs, with a warning that says so.
    inner_cv : int, "loo" or splitter, default=5
        Folds of the inner cross-validation on each training part.
    repeats : int, default=1
        Number of repeats.
    groups : array-like of shape (n,), optional
        Group of each graph: graphs of one group are never split into training and test, nor inside the
        training part.
    t_max : int or sequence of int, optional
        Candidates; None: 0 up to the kernel's own t_max.
    C : float, sequence of float, or "paper"
        Candidates, 0.01 to 1000 by default. With one t_max and one C nothing is chosen. "paper": the
        paper's values, for the unscaled kernel.
    epsilon : float or sequence of float, default=0.1
        Candidates of the SVR, in standard deviations of the target.
    scoring : str, callable or None, default=None
        The name of a scorer of scikit-learn ("roc_auc", "balanced_accuracy", "f1", "r2",
        "neg_mean_absolute_error", ...), or a function ``scorer(estimator, X, y)``; t_max and C are chosen by
        it too. None: accuracy, or R^2 for numbers (one graph at a time: the negative absolute error), with
        t_max and C by accuracy or squared error. With several targets, the mean over the columns.
    selection : {"auto", "race", "exhaustive"}, default="auto"
        How t_max and C of a kernel are chosen. "exhaustive": drop only candidates that cannot win. "race":
        also those significantly worse than the leader after some folds. "auto": exhaustive up to 1000 graphs.
    random_state : int, RandomState or None
        Seed of folds and hash functions. Kernels evaluated with the same seed use the same folds.
    n_jobs : int or None
        Threads over folds; None is one, -1 all cores. The kernel has its own ``n_jobs``.
    progress : bool or None, default=None
        Whether a progress bar is shown after two seconds; None: on terminals and in notebooks.

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
    PropagationClassifier : A model that chooses its own kernel.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.2, the protocol.
    .. [2] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281. doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import propkernels as pk
    >>> from propkernels import evaluate
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> result = evaluate(data, kernel=pk.PropagationKernel(t_max=3), cv=5, C=[1, 10], random_state=0)
    >>> result.scores.shape, result.mean > 0.8
    ((1, 5), True)
    >>> evaluate(data, cv=5, t_max=0, C=1, random_state=0).choices[0][0]
    Choice(t_max=0, C=1.0)
    """
    start = perf_counter()
    steps, costs = check_steps(t_max), check_cost_grid(C)
    data, kernel = graphs, PropagationKernel() if kernel is None else kernel
    check_kernel(kernel, steps)
    repeats = check_integer(repeats, "repeats", 1)
    inner_cv, epsilons = _check_inner(inner_cv), check_epsilons(epsilon)
    graphs, known, values, is_classification = _unpack(kernel, data, target)
    known.check_cv(cv)
    known.warn(stacklevel=4)
    groups = known.take(groups)
    group_numbers, is_stratified = check_groups(groups, len(graphs)), is_classification and values.ndim == 1
    cv = default_folds(values, group_numbers, is_stratified) if cv is None else check_folds(cv, "cv")
    protocol = Protocol(cv, inner_cv, group_numbers, is_stratified)
    metric, scorer = resolve_metric(scoring, is_classification, cv == LEAVE_ONE_OUT and groups is None)
    is_exact = resolve_selection(selection, len(graphs)) == "exhaustive"
    seeds, common = draw_seeds(random_state, repeats), (kernel, graphs, values, protocol, scorer, n_jobs)
    by_score = scoring not in (None, "accuracy", "r2")
    study: ModelStudy | KernelStudy = (
        ModelStudy(*common)
        if hasattr(kernel, "predict")
        else KernelStudy(*common, steps, costs, epsilons, is_exact, by_score, is_classification)
    )
    splits = [protocol.folds(values, seed, study.has_choice) for seed in seeds]
    n_folds = sum(map(len, splits))
    bar = ProgressBar("evaluate: folds", n_folds, progress=progress)
    with stopping_allowed(), foreign_graphs_allowed(), bar:
        runs = [study.run(seed, folds, bar.step) for seed, folds in zip(seeds, splits, strict=True)]
    return Evaluation(
        data=str(getattr(data, "name", "graphs")),
        kernel=type(kernel).__name__,
        scores=np.array([run.scores for run in runs]),
        choices=tuple(run.choices for run in runs),
        kernel_seconds=tuple(run.kernel_seconds for run in runs),
        seconds=perf_counter() - start,
        metric=metric,
        protocol=protocol.name,
        test_ratio=float(np.mean([len(f.test) / len(f.train) for folds in splits for f in folds])),
        split=split_digest(splits),
        classes=_class_names(data, target, known) if is_stratified else (),
        confusion=_confusion(runs, len(np.unique(values))) if is_stratified else None,
    )


def _check_inner(cv: Any) -> Any:
    """Return the number of inner folds, "loo" or a splitter; raise for lists of folds."""
    checked = check_folds(cv, "inner_cv")
    if isinstance(checked, list):
        raise TypeError('inner_cv splits each training part: give a number, "loo" or a splitter, not folds')
    return checked


def _class_names(data: Any, target: Any, known: Known) -> tuple[str, ...]:
    """Return the names of the classes, in the order of their numbers."""
    values = np.unique(known.target)
    names = getattr(data, "target_names", ()) if target is None else ()
    return tuple(map(str, names if len(names) == len(values) else values.tolist()))


def _confusion(runs: Sequence[Run], n_classes: int) -> NDArray[np.int64]:
    """Return the confusion matrix, (true class, predicted class), over all folds and repeats."""
    parts = [recorder.confusion(n_classes) for run in runs for recorder in run.recorders]
    return np.asarray(np.sum(parts, axis=0), dtype=np.int64)


def _unpack(kernel: Any, data: Any, target: Any) -> tuple[GraphDatabase, Known, NDArray[Any], bool]:
    """Return the graphs with a target, their positions, class numbers or targets, and whether classes."""
    if target is None and not (hasattr(data, "graphs") and hasattr(data, "target")):
        raise TypeError(f"evaluate needs a target, or a data set with one; got {kind_of(data)} alone")
    graphs = check_graphs(getattr(data, "graphs", data))
    known = known_targets(data.target if target is None else target, len(graphs))
    graphs, is_regression = known.take(graphs), _is_regression(kernel, known.target)
    if has_columns(known.target):
        checked: Any = (check_several if is_regression else check_labels)(known.target, len(graphs))
    elif is_regression:
        checked = check_numbers(known.target, len(graphs), known.places)
    else:
        checked = check_target(known.target, len(graphs))
    return graphs, known, checked, not is_regression


def _is_regression(kernel: Any, target: Any) -> bool:
    """Whether to predict numbers: for regressors, and for floats with fractions or many values."""
    kind = getattr(kernel, "_estimator_type", None)
    if hasattr(kernel, "predict"):
        tags = getattr(kernel, "__sklearn_tags__", None)
        kind = tags().estimator_type if tags is not None else kind
        return kind == "regressor"
    values = np.asarray(target)
    if values.ndim == 2:
        numbers = values.astype(np.float64)
        return not bool(np.isin(numbers[~np.isnan(numbers)], (0, 1)).all())
    if values.ndim != 1 or values.dtype.kind != "f":
        return False
    return has_fractions(values) or (bool(np.isfinite(values).all()) and not are_classes(values.astype(int)))
