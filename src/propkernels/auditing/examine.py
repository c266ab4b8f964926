"""audit: check a data set for duplicates, leaks and label errors, and score baselines."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from propkernels._utils.checks import check_integer
from propkernels._utils.parallel import blas_threads, threaded
from propkernels._utils.progress import ProgressBar
from propkernels._utils.randomness import draw_seed
from propkernels.auditing.duplicates import NEARLY, near_duplicates, sameness_of
from propkernels.auditing.learning import learning_of, suspects_of
from propkernels.auditing.report import Audit, sentences_of
from propkernels.auditing.statistics import Target, check_audit_target, statistics_of
from propkernels.convert.check import check_graphs
from propkernels.datasets.dataset import Dataset
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, GridDatabase
from propkernels.models.choose import compute_stack, has_steps
from propkernels.models.defaults import default_kernels

MANY = 2000  # with more graphs, float32 kernels: their error is far below that of the scores
GRAPHS_OF_A_THREAD = 500  # rows of a matrix per thread of BLAS
MOST_COMPARED = 5000  # more graphs are sampled for pairwise comparison and scores
LEAST_LEARNED = 10  # fewer graphs with a target are not scored
N_STAGES = 6  # of the progress bar, besides one per iteration


@threaded
def audit(
    graphs: Dataset | Graphs,
    target: ArrayLike | None = None,
    test: Dataset | Graphs | None = None,
    *,
    test_target: ArrayLike | None = None,
    t_max: int = 5,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> Audit:
    """Check a data set for duplicates, leaks and label errors, and score a kernel and baselines on it.

    Exact duplicates are isomorphic graphs with equal labels, attributes and weights. Graphs that no method of
    ``t_max`` steps can distinguish are detected in linear time. Scores are computed by nested
    cross-validation: t and C are chosen on the training part of each of five folds.

    Parameters
    ----------
    graphs : Dataset, GraphDatabase, GridDatabase or sequence of graphs
        See :func:`propkernels.check_graphs`. Images are compared as graphs of pixels and their neighbors.
    target : array-like of shape (n,), optional
        One class or number per graph; None: the target of the Dataset, if it has one. Numbers with fractions
        are a regression target. Graphs with a missing target (None or NaN) are compared with the others, but
        not scored.
    test : Dataset, GraphDatabase or sequence of graphs, optional
        Test graphs, which are compared with ``graphs`` but not scored.
    test_target : array-like, optional
        Targets of the test graphs; None: the target of the Dataset, if it has one.
    t_max : int, default=5
        The largest number of steps.
    random_state : int, RandomState or None, default=0
        Seed of the hash functions, the folds and, for more than 5000 graphs, the scored sample.
    n_jobs : int or None, default=None
        Number of threads; None: 1, -1: all cores.

    Returns
    -------
    Audit
        ``print`` shows the findings as sentences; ``save`` writes a page or JSON.

    See Also
    --------
    propkernels.auditing.Audit : The result.
    evaluate : Nested cross-validation of the paper, for any kernel or model.
    NoveltyDetector : Detects new graphs that are unlike the training graphs.

    Notes
    -----
    Graphs are compared by the default kernel of models with histogram intersection and t steps, normalized.
    It is scored by kernel ridge classification or regression, with the predictions of all folds computed from
    one inverse [1]_; t and C are chosen by leave-one-out inside each training part. Graphs that are
    misclassified in each of five additional cross-validations are suspected label errors [2]_.

    References
    ----------
    .. [1] S. An, W. Liu and S. Venkatesh (2007). Fast cross-validation algorithms for least squares support
       vector machine and kernel ridge regression. Pattern Recognition 40 (8), 2154-2162.
       doi:10.1016/j.patcog.2006.12.015.
    .. [2] C. E. Brodley and M. A. Friedl (1999). Identifying mislabeled training data. Journal of Artificial
       Intelligence Research 11, 131-167. doi:10.1613/jair.606.
    .. [3] S. Ivanov, S. Sviridov and E. Burnaev (2019). Understanding isomorphism bias in graph data sets.
       arXiv:1910.12091.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> twice = pk.GraphDatabase.concat([data.graphs, data.graphs[[7]]])
    >>> report = pk.audit(twice, np.append(data.target, 1 - data.target[7]))
    >>> report.sameness.duplicates.conflicts
    ((7, 60),)
    """
    began, used = perf_counter(), process_time()
    given, wanted = _opened(graphs, target, None)
    database = _with_edges(given)
    label_names = dict(graphs.graphs.names.labels) if isinstance(graphs, Dataset) else {}
    t_max = check_integer(t_max, "t_max", 0)
    seed = draw_seed(random_state) % 2**31
    tested, tested_target = (None, None) if test is None else _opened(test, test_target, wanted)
    tested = None if tested is None else _with_edges(tested)
    measure = clone(default_kernel(database)).set_params(t_max=t_max, normalize=True)
    if "random_state" in measure.get_params(deep=False):
        measure.set_params(random_state=seed)
    chosen = sample_of(database, wanted, seed)
    with (
        ProgressBar("Audit", N_STAGES + t_max + 1) as bar,
        blas_threads(len(chosen) // GRAPHS_OF_A_THREAD),
    ):

        def tell(what: str) -> None:
            bar.describe(f"Audit: {what}")
            bar.step()

        tell("statistics")
        statistics = statistics_of(database, wanted, label_names)
        tell("duplicates")
        sameness = sameness_of(database, wanted, tested, tested_target, t_max)
        tell("kernels")
        part = database if len(chosen) == len(database) else database[chosen]
        known, classes = None if wanted is None else wanted.take(chosen), sameness.classes[chosen]
        kernels = list(compute_stack(measure, part, None).values())
        near = near_duplicates(kernels[-1], classes, known)
        pairs = tuple((int(chosen[a]), int(chosen[b]), value) for a, b, value in near.pairs)
        near = replace(near, pairs=pairs)
        if len(part) > MANY:
            kernels = [matrix.astype(np.float32) for matrix in kernels]
        if sameness.leaks is not None and tested is not None:
            exact = {graph for graph, _ in sameness.leaks.exact}
            leaks = [pair for pair in near_training_graphs(measure, tested, chosen) if pair[0] not in exact]
            sameness = replace(sameness, leaks=replace(sameness.leaks, near=tuple(leaks)))
        learning = suspects = None
        have = np.arange(0) if known is None else np.flatnonzero(known.known)
        if known is not None and len(have) >= LEAST_LEARNED and len(np.unique(known.values[have])) > 1:
            part, known, classes = part[have], known.take(have), classes[have]
            if len(have) < len(chosen):
                kernels = [matrix[np.ix_(have, have)] for matrix in kernels]
            learning = learning_of(part, kernels, known, classes, seed, tell)
            tell("suspected label errors")
            matrix = kernels[learning.chosen_t]
            suspects = suspects_of(matrix, learning.chosen_C, known, seed, chosen[have])
    result = Audit(
        name=str(graphs.name) if isinstance(graphs, Dataset) else "graphs",
        statistics=statistics,
        sameness=sameness,
        near=near,
        learning=learning,
        suspects=suspects,
        sample=tuple(chosen.tolist()) if len(chosen) < len(database) else None,
        t_max=t_max,
        kernel=_described(measure),
        random_state=seed,
        seconds=perf_counter() - began,
        processor_seconds=process_time() - used,
        sentences=(),
        graphs=given,
        target=wanted,
        label_names=label_names,
    )
    return replace(result, sentences=sentences_of(result))


def _opened(
    data: Any, target: Any, like: Target | None
) -> tuple[GraphDatabase | GridDatabase, Target | None]:
    """Return the graphs, and their target or None."""
    is_own = isinstance(data, Dataset) and target is None
    graphs = check_graphs(data.graphs if isinstance(data, Dataset) else data)
    if not len(graphs):
        raise ValueError("an audit needs at least one graph, got none")
    values = data.target if is_own else target
    if values is None or np.shape(values) == (len(graphs), 0):
        return graphs, None
    return graphs, check_audit_target(values, len(graphs), data.target_names if is_own else (), like)


def _with_edges(graphs: GraphDatabase | GridDatabase) -> GraphDatabase:
    return graphs.to_graphs() if isinstance(graphs, GridDatabase) else graphs


def default_kernel(graphs: GraphDatabase) -> Any:
    """Return the default kernel with intersection and steps, with edge labels if the graphs have them."""
    fitting = [
        kernel
        for kernel in default_kernels(graphs, is_linear=True)
        if has_steps(kernel) and getattr(kernel, "base_kernel", "") == "intersection"
    ]
    return max(fitting, key=lambda kernel: bool(kernel.get_params(deep=False).get("edge_labels")))


def sample_of(graphs: GraphDatabase, target: Target | None, seed: int) -> NDArray[np.int64]:
    """Return the positions of all graphs, or of a stratified sample of 5000."""
    n = len(graphs)
    if n <= MOST_COMPARED:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    if target is not None and target.is_classes:
        order = order[np.argsort(target.values[order], kind="stable")]
        order = order[np.linspace(0, n - 1, MOST_COMPARED).astype(np.int64)]
    return np.sort(order[:MOST_COMPARED])


def near_training_graphs(
    kernel: Any, test: GraphDatabase, names: NDArray[np.int64]
) -> list[tuple[int, int, float]]:
    """Return test graphs that are near duplicates of a training graph, that graph, and their similarity."""
    near = []
    for start in range(0, len(test), MOST_COMPARED):
        rows = kernel.transform(test[start : start + MOST_COMPARED])
        best = rows.argmax(axis=1)
        for place in np.flatnonzero(rows.max(axis=1) >= NEARLY).tolist():
            near.append((start + place, int(names[best[place]]), float(rows[place, best[place]])))
    return sorted(near, key=lambda pair: (-pair[2], pair[0]))


def _described(kernel: Any) -> str:
    """Return the kernel's repr without the parameters that an audit sets."""
    shared = {"normalize", "random_state", "n_jobs"} & set(kernel.get_params(deep=False))
    plain = type(kernel)().get_params(deep=False)
    return " ".join(repr(clone(kernel).set_params(**{name: plain[name] for name in shared})).split())
