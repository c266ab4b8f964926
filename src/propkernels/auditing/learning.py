"""Scores of the kernel and of baselines that ignore structure, and suspected label errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context

from propkernels.auditing.statistics import Target
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import edges_of_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.models.folds import Folds, choosing_folds
from propkernels.models.least_squares import PER_COST, solve

Matrix = NDArray[Any]
Setting = tuple[int, float]  # t and C
COSTS = (1.0, 0.1)  # C, for the normalized kernel
N_FOLDS = 5
SHARES = (0.1, 0.2, 0.4, 0.7)  # of the training part: the learning curve, which ends with the whole part
REPEATS, REPEAT_FOLDS = 5, 10  # cross-validations that suspects are wrong in
FENCE = 3.0  # an outlying error exceeds the upper quartile by this many interquartile ranges (Tukey)
MOST_LISTED, N_NEIGHBORS = 24, 3  # suspects with details, and their neighbors
MOST_COLUMNS = 50  # labels or degrees that are counted separately; rarer ones share a column
N_STEPS, MOST_STEPS = 9, 400  # quantile steps per column, and of all columns together
PENALTIES = (0.3, 3.0, 30.0)


@dataclass(frozen=True)
class Score:
    """Accuracy (R^2 for regression) on held-out graphs, and its standard error over the folds."""

    name: str
    mean: float
    error: float


@dataclass(frozen=True)
class Learning:
    """Scores of nested cross-validation.

    Attributes
    ----------
    metric : {"accuracy", "R^2"}
    n_graphs : int
        Number of scored graphs: all, or a sample.
    n_folds : int
    scores : tuple of Score
        Baselines first, then the kernel.
    by_step : tuple of Score
        The kernel with t fixed.
    curve : tuple of (int, float, float)
        Number of training graphs, score and its standard error.
    chosen_t, chosen_C : int, float
        Setting chosen by most folds.
    predictions : ndarray
        Held-out prediction, class or number, of each scored graph.
    score_with_duplicate, score_without : float or None
        Scores of graphs with and without a duplicate in the training part of their fold.
    """

    metric: str
    n_graphs: int
    n_folds: int
    scores: tuple[Score, ...]
    by_step: tuple[Score, ...]
    curve: tuple[tuple[int, float, float], ...]
    chosen_t: int
    chosen_C: float
    predictions: NDArray[Any]
    score_with_duplicate: float | None
    score_without: float | None


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of every setting on every fold.

    Attributes
    ----------
    target : Target
    folds : sequence of (train, test)
    held_out : dict
        For each setting (t, C), predictions without each fold, (folds, graphs, columns): of its graphs, and
        of each other graph from the other training graphs.
    """

    target: Target
    folds: Folds
    held_out: dict[Setting, Matrix]

    def choose(self, t: int | None = None) -> list[Setting]:
        """Return the best setting per fold, by leave-one-out inside its training part; ``t`` fixes t."""
        settings = [setting for setting in self.held_out if t is None or setting[0] == t]
        return [
            min(settings, key=lambda s: (self.target.loss(self.held_out[s][i, train], train), s))
            for i, (train, _) in enumerate(self.folds)
        ]

    def tested(self, chosen: Sequence[Setting]) -> list[Matrix]:
        """Return the predictions of each fold's own graphs with its chosen setting."""
        return [self.held_out[chosen[i]][i, test] for i, (_, test) in enumerate(self.folds)]

    def score(self, name: str, decisions: Sequence[Matrix]) -> Score:
        """Return the mean score of the folds from decisions on their own graphs, and its standard error."""
        values = [self.target.score(d, test) for d, (_, test) in zip(decisions, self.folds, strict=True)]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return Score(name, float(np.mean(values)), spread / float(np.sqrt(len(values))))


def learning_of(
    graphs: GraphDatabase,
    kernels: Sequence[Matrix],
    target: Target,
    classes: NDArray[np.int64],
    seed: int,
    tell: Callable[[str], None],
) -> Learning:
    """Return nested cross-validation scores of the kernels, one per t, and of the baselines."""
    folds, held_out = choosing_folds(target.values, N_FOLDS, seed=seed), {}
    tests, ridges = [test for _, test in folds], [1 / (PER_COST * cost) for cost in COSTS]
    for t, kernel in enumerate(kernels):
        tell(f"cross-validation, t = {t}")
        for cost, found in zip(COSTS, solve(kernel, target.columns, ridges, folds=tests), strict=True):
            held_out[t, cost] = found.apart
    validation = CrossValidation(target, folds, held_out)
    chosen = validation.choose()
    tested = validation.tested(chosen)
    own = validation.score("the kernel", tested)
    tell("baselines")
    constant = [np.tile(target.columns[train].mean(axis=0), (len(test), 1)) for train, test in folds]
    baselines = {"majority class" if target.is_classes else "mean": constant}
    baselines |= baseline_predictions(graphs, target.columns, folds)
    tell("learning curve")
    decisions = np.empty_like(target.columns)
    decisions[np.concatenate(tests)] = np.concatenate(tested)
    t, cost = max(chosen, key=chosen.count)
    # a graph with a duplicate in the training part of its fold is easy
    has_twin = np.zeros(len(decisions), dtype=bool)
    for train, test in folds:
        has_twin[test] = np.isin(classes[test], classes[train])
    parts = [np.flatnonzero(has_twin), np.flatnonzero(~has_twin)]
    twins, others = (target.score(decisions[p], p) if all(map(len, parts)) else None for p in parts)
    whole = round(float(np.mean([len(train) for train, _ in folds])))
    return Learning(
        "accuracy" if target.is_classes else "R^2",
        len(target.values),
        len(folds),
        (*(validation.score(name, predicted) for name, predicted in baselines.items()), own),
        tuple(
            validation.score(f"t = {t}", validation.tested(validation.choose(t))) for t in range(len(kernels))
        ),
        (*learning_curve(kernels, validation, chosen, seed), (whole, own.mean, own.error)),
        t,
        cost,
        target.predictions(decisions),
        twins,
        others,
    )


def learning_curve(
    kernels: Sequence[Matrix], validation: CrossValidation, chosen: Sequence[Setting], seed: int
) -> list[tuple[int, float, float]]:
    """Return scores of models fitted on random subsets of the training graphs: (size, mean, error)."""
    columns, points = validation.target.columns, []
    for share in SHARES:
        sizes, decisions = [], []
        for fold, (train, test) in enumerate(validation.folds):
            t, cost = chosen[fold]
            order = np.random.default_rng([seed, fold]).permutation(train)
            part = np.sort(order[: max(2, round(share * len(train)))])
            (found,) = solve(kernels[t][np.ix_(part, part)], columns[part], [1 / (PER_COST * cost)])
            decisions.append(kernels[t][np.ix_(test, part)] @ found.coefficients + found.intercepts)
            sizes.append(len(part))
        score = validation.score("", decisions)
        points.append((round(float(np.mean(sizes))), score.mean, score.error))
    return points


# baselines


def baseline_predictions(graphs: GraphDatabase, columns: Matrix, folds: Folds) -> dict[str, list[Matrix]]:
    """Return, per baseline, its predictions for the test graphs of each fold.

    ``columns`` are the targets of ridge regression: 1 and -1 for classes, or numbers.
    """
    return {
        title: [additive(table[train], columns[train], table[test]) for train, test in folds]
        for title, table in simple_tables(graphs).items()
    }


def simple_tables(graphs: GraphDatabase) -> dict[str, Matrix]:
    """Return the tables of all baselines by name, with one row per graph."""
    sizes, edges, column = graphs.graph_sizes, edges_of_graphs(graphs), graphs.label_column
    size_table = np.column_stack([sizes, edges, edges / np.maximum(sizes, 1)])
    tables = {"counting nodes and edges": size_table.astype(float)}
    if isinstance(column, LabelColumn):
        tables["counting node labels"] = counts_by_graph(column.ids, graphs.graph_ids, len(graphs))
    degrees = np.diff(graphs.adjacency.indptr)
    if graphs.edge_label_column is not None:
        owners = np.repeat(graphs.graph_ids, degrees)
        tables["counting edge labels"] = counts_by_graph(graphs.edge_label_column.ids, owners, len(graphs))
    tables["counting degrees"] = counts_by_graph(degrees, graphs.graph_ids, len(graphs))
    if graphs.node_attributes is not None:  # mean and standard deviation; missing values count as 0
        filled = np.nan_to_num(graphs.node_attributes)
        means, squares = (
            np.column_stack([np.bincount(graphs.graph_ids, v, len(graphs)) for v in values.T])
            / np.maximum(sizes, 1)[:, None]
            for values in (filled, filled**2)
        )
        spreads = np.sqrt(np.maximum(squares - means**2, 0.0))
        tables["averaging attributes"] = np.column_stack([means, spreads])
    return tables


def counts_by_graph(values: NDArray[Any], owners: NDArray[Any], n_graphs: int) -> Matrix:
    """Return the count of each value per graph, most frequent values first; rare ones share the last column.

    Examples
    --------
    >>> counts_by_graph(np.array([7, 7, 9]), np.array([0, 1, 1]), 2)
    array([[1., 0.],
           [1., 1.]])
    """
    distinct, numbers, frequencies = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(-frequencies, kind="stable")] = np.arange(len(distinct))
    columns = np.minimum(rank[numbers], MOST_COLUMNS - 1)
    width = min(len(distinct), MOST_COLUMNS)
    table = csr_array((np.ones(len(values)), (owners, columns)), shape=(n_graphs, width))
    return np.asarray(table.toarray())


def additive(train: Matrix, columns: Matrix, test: Matrix) -> Matrix:
    """Return predictions for test rows by ridge regression on standardized values and on quantile steps.

    Steps indicate the training quantiles that a value exceeds. The penalty is chosen by leave-one-out on the
    training rows.
    """
    from sklearn.linear_model import RidgeCV

    table = np.concatenate([train, test])
    n_steps = max(1, min(N_STEPS, MOST_STEPS // max(table.shape[1], 1)))
    quantiles = np.quantile(train, np.arange(1, n_steps + 1) / (n_steps + 1), axis=0)
    is_new = np.diff(quantiles, axis=0, prepend=-np.inf) > 0  # equal quantiles give one step
    exceeds = (table[:, None, :] > quantiles)[:, is_new]
    standardized = (table - train.mean(axis=0)) / (train.std(axis=0) + 1e-12)
    steps = np.concatenate([standardized, exceeds], axis=1)
    with config_context(skip_parameter_validation=True, assume_finite=True):
        model = RidgeCV(PENALTIES).fit(steps[: len(train)], columns)
        return np.asarray(model.predict(steps[len(train) :])).reshape(len(test), -1)


# suspects


@dataclass(frozen=True)
class Suspect:
    """A graph that is misclassified in every cross-validation.

    Attributes
    ----------
    graph : int
    given, predicted : str
        Target and held-out prediction.
    margin : float
        Score of the best other class minus that of the given one, or the error in standard deviations of the
        target.
    neighbors : tuple of (int, str, float)
        Most similar graphs of other classes (for regression, of all graphs): number, target and similarity.
    """

    graph: int
    given: str
    predicted: str
    margin: float
    neighbors: tuple[tuple[int, str, float], ...]


@dataclass(frozen=True)
class Suspects:
    """Graphs that are misclassified, or have an outlying error, in every cross-validation.

    Attributes
    ----------
    repeats : int
        Number of cross-validations.
    graphs : tuple of int
        All suspects, largest margin first.
    listed : tuple of Suspect
        Details of the suspects with the largest margins.
    """

    repeats: int
    graphs: tuple[int, ...]
    listed: tuple[Suspect, ...]


def suspects_of(kernel: Matrix, cost: float, target: Target, seed: int, names: NDArray[np.int64]) -> Suspects:
    """Return the graphs that are wrong in all of five ten-fold cross-validations.

    ``names`` are the positions of the graphs in the whole data set.
    """
    repeats = [choosing_folds(target.values, REPEAT_FOLDS, seed=seed + i) for i in range(1, REPEATS + 1)]
    folds = [(number, test) for number, repeat in enumerate(repeats) for _, test in repeat]
    tests = [test for _, test in folds]
    (found,) = solve(kernel, target.columns, [1 / (PER_COST * cost)], folds=tests)
    decisions = np.empty((REPEATS, *target.columns.shape))
    for (number, test), apart in zip(folds, found.apart, strict=True):
        decisions[number, test] = apart[test]
    mean, rows = decisions.mean(axis=0), np.arange(len(target.values))
    if target.is_classes:
        wrong = np.array([target.losses(repeat, rows) > 0 for repeat in decisions])
        scores = np.column_stack([-mean, mean]) if mean.shape[1] == 1 else mean.copy()
        given = scores[rows, target.values]
        scores[rows, target.values] = -np.inf
        margins = scores.max(axis=1) - given
    else:
        errors = np.abs(decisions[:, :, 0] - target.columns[:, 0])
        low, high = np.quantile(errors, [0.25, 0.75], axis=1)
        wrong, margins = errors > (high + FENCE * (high - low))[:, None], errors.mean(axis=0)
    always = np.flatnonzero(wrong.all(axis=0))
    order = always[np.lexsort((always, -margins[always]))]
    predicted = target.predictions(mean)
    listed = [
        _described(kernel, target, int(i), predicted[i], float(margins[i]), names)
        for i in order[:MOST_LISTED]
    ]
    return Suspects(REPEATS, tuple(names[order].tolist()), tuple(listed))


def _described(
    kernel: Matrix, target: Target, graph: int, predicted: Any, margin: float, names: NDArray[np.int64]
) -> Suspect:
    similar = kernel[graph].copy()
    similar[graph] = -np.inf
    order = np.argsort(-similar, kind="stable")[:-1]
    if target.is_classes:
        order = order[target.values[order] != target.values[graph]]
    return Suspect(
        int(names[graph]),
        target.name(target.values[graph]),
        target.name(predicted),
        margin,
        tuple((int(names[i]), target.name(target.values[i]), float(similar[i])) for i in order[:N_NEIGHBORS]),
    )
