"""Evaluation results as text and as a page, and paired tests of two methods on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import data_frame
from propkernels._utils.safe_files import Pathlike, atomic_write
from propkernels._utils.typing import Record

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_FOLDS = 10  # folds listed in a notebook
MOST_CLASSES = 20  # largest number of classes of a confusion matrix on a page
STRONGEST = 55  # percent of color in a cell


@dataclass(frozen=True)
class PairedTest:
    """Paired t-tests of two methods on the same folds.

    The plain test treats the differences of folds as independent. They are not, since training parts overlap,
    so it is too often significant. The corrected resampled t-test (Nadeau and Bengio, 2003) widens their
    variance by the ratio of test to training graphs: prefer it.

    Attributes
    ----------
    difference : float
        Mean over all folds of the first score minus the second.
    n_folds : int
        Number of folds of all repeats.
    t, p : float
        Statistic and two-sided probability of the plain test.
    corrected_t, corrected_p : float
        The same for the corrected test.

    See Also
    --------
    propkernels.models.Evaluation : ``Evaluation.compare`` returns this.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281. doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> walk = pk.evaluate(data, model=pk.PropagationKernel(t_max=2), cv=3, random_state=0)
    >>> labels = pk.evaluate(data, model=pk.PropagationKernel(t_max=0), cv=3, random_state=0)
    >>> walk.compare(labels).n_folds
    3
    """

    difference: float
    n_folds: int
    t: float
    p: float
    corrected_t: float
    corrected_p: float


ROUNDING = 1e-12  # of a score; scores of a fold that differ by less are equal


def paired_test(first: NDArray[np.float64], second: NDArray[np.float64], test_ratio: float) -> PairedTest:
    """Return paired t-tests of two methods on the same folds.

    Parameters
    ----------
    first, second : ndarray
        Score on each fold.
    test_ratio : float
        Number of test graphs for each training graph.

    Examples
    --------
    >>> paired_test(np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.9, 0.6]), 0.5).p.__round__(3)
    0.184
    """
    from scipy.stats import t as student

    gaps = (np.asarray(first) - np.asarray(second)).ravel()
    gaps[np.abs(gaps) <= ROUNDING * np.abs(first).ravel()] = 0.0
    n, mean = len(gaps), float(gaps.mean())
    variance = float(gaps.var(ddof=1)) if n > 1 else float("nan")
    found = list[float]()
    for share in (1 / n, 1 / n + test_ratio):
        error = float(np.sqrt(variance * share))
        t = mean / error if error else float(np.copysign(np.inf, mean)) if mean else 0.0
        found += [t, float(2 * student.sf(abs(t), n - 1)) if n > 1 else float("nan")]
    return PairedTest(mean, n, *found)


class Choice(NamedTuple):
    """Parameters of one fold; ``t_max`` is None for kernels without iterations, C is NaN if unused."""

    t_max: int | None
    C: float


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of :func:`evaluate`.

    Attributes
    ----------
    data, kernel : str
        Names of the data set and of the kernel.
    scores : ndarray of shape (repeats, n_folds)
        The metric on each test fold; accuracy is between 0 and 1.
    choices : tuple of tuples of Choice
        The t_max and C of each fold, ``choices[repeat][fold]``.
    kernel_seconds : tuple of float
        Time for the kernels of each repeat; for models, time for fitting.
    seconds : float
        Total time.
    metric : str
        Name of the score: "accuracy", "r2" or another scorer of scikit-learn; larger is better.
    protocol : str
        How the graphs were split, in words.
    test_ratio : float
        Number of test graphs for each training graph, for :meth:`compare`.
    split : str
        Digest of all folds: evaluations with equal digests used the same folds.
    classes : tuple of str
        Names of the classes; empty for regression and for several labels per graph.
    confusion : ndarray of shape (classes, classes), or None
        Number of graphs of a class (row) predicted as a class (column), over all test folds of all
        repeats.

    See Also
    --------
    evaluate : Returns this.
    propkernels.models.PairedTest : The result of ``compare``.
    propkernels.plotting.plot_evaluation : Draws the folds.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.2, the protocol.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> result = pk.evaluate(data, model=pk.PropagationKernel(t_max=1), cv=3, random_state=0)
    >>> result.scores.shape
    (1, 3)
    """

    data: str
    kernel: str
    scores: NDArray[np.float64]
    choices: tuple[tuple[Choice, ...], ...]
    kernel_seconds: tuple[float, ...]
    seconds: float
    metric: str = "accuracy"
    protocol: str = "stratified"
    test_ratio: float = float("nan")
    split: str = ""
    classes: tuple[str, ...] = ()
    confusion: NDArray[np.int64] | None = None

    @property
    def mean(self) -> float:
        """Mean over all folds and repeats."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean: over repeats, or over folds if there is one repeat."""
        values = self.scores.mean(axis=1) if len(self.scores) > 1 else self.scores[0]
        return float(values.std(ddof=1) / np.sqrt(len(values)))

    @property
    def folds(self) -> list[Record]:
        """One record per fold: number, score and choice."""
        return [
            {"repeat": r, "fold": f, self.metric: float(self.scores[r, f]), **choice._asdict()}
            for r, choices in enumerate(self.choices)
            for f, choice in enumerate(choices)
        ]

    @property
    def records(self) -> list[Record]:
        """Return one record per fold, with data set and kernel, so that evaluations can be concatenated."""
        return [{"data": self.data, "kernel": self.kernel, **fold} for fold in self.folds]

    def to_frame(self) -> DataFrame:
        """Return the records as a pandas DataFrame."""
        return data_frame(self.records)

    def compare(self, other: Evaluation) -> PairedTest:
        """Return paired t-tests of this evaluation against another on the same folds.

        Returns
        -------
        PairedTest
            With the plain paired t-test and the corrected test; prefer the latter.

        Raises
        ------
        ValueError
            If the folds or the metrics are different.

        Examples
        --------
        >>> import propkernels as pk
        >>> data = pk.datasets.make_molecules(90, random_state=0)
        >>> kernels, folds = [pk.PropagationKernel(t_max=t) for t in (3, 0)], {"cv": 3, "random_state": 0}
        >>> walk, labels = (pk.evaluate(data, model=kernel, **folds) for kernel in kernels)
        >>> test = walk.compare(labels)
        >>> test.difference > 0, test.corrected_p > test.p
        (True, True)
        """
        if self.metric != other.metric:
            raise ValueError(f"metrics are different: {self.metric} and {other.metric}")
        if self.scores.shape != other.scores.shape or self.split != other.split:
            raise ValueError(
                "evaluations have different folds: evaluate both with the same data, protocol and seed"
            )
        return paired_test(self.scores, other.scores, self.test_ratio)

    def describe_choices(self, name: str) -> str:
        """Return median and range of the chosen "t_max" or "C", such as "3 (1-5)"."""
        values = [getattr(choice, name) for choices in self.choices for choice in choices]
        if None in values or np.isnan(values).any():
            return "-"
        values.sort()
        middle = f"{values[len(values) // 2]:g}"
        return middle if values[0] == values[-1] else f"{middle} ({values[0]:g}-{values[-1]:g})"

    def format_score(self, value: float) -> str:
        """Format a score; accuracies in percent."""
        return f"{100 * value:.1f} %" if self.metric == "accuracy" else f"{value:.4g}"

    def __repr__(self) -> str:
        repeats, n_folds = self.scores.shape
        times = f"{n_folds} folds" if repeats == 1 else f"{repeats} x {n_folds} folds"
        error = self.format_score(self.standard_error).removesuffix(" %")
        score = f"{self.metric} {self.format_score(self.mean)} +- {error}"
        return f"Evaluation({self.kernel} on {self.data}: {score}, {times})"

    def __str__(self) -> str:
        head, rows = self._cells()
        lines = [head, *([*row[:3], *("-" if x is None else f"{x:g}" for x in row[3:])] for row in rows)]
        widths = 6, 4, 8, 5, 6
        texts = (zip(line, widths, strict=True) for line in lines)
        return "\n".join([repr(self), "", *("  ".join(f"{x:>{w}}" for x, w in text) for text in texts)])

    def _cells(self, most: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Return the names of columns, and the texts and numbers of the first folds."""
        rows = []
        for fold in self.folds[:most]:
            score, cost = self.format_score(fold[self.metric]), fold["C"]
            known = None if np.isnan(cost) else cost
            rows.append([fold["repeat"], fold["fold"], score, fold["t_max"], known])
        return ["repeat", "fold", self.metric, "t_max", "C"], rows

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Drawing, Remark, Table, show_result

        times = f"{self.protocol}; {self.seconds:.3g} s in total"
        score = f"{self.format_score(self.mean)} ± {self.format_score(self.standard_error)}"
        more = self.scores.size - MOST_FOLDS
        return show_result(
            f"{self.metric.capitalize()} of {self.kernel} on {self.data}: {score} (standard error)",
            Drawing(folds_svg({self.kernel: self}), "one dot per fold; the line is the mean"),
            Remark(times),
            Table(*self._cells(MOST_FOLDS), f"the first {MOST_FOLDS} folds" if more > 0 else ""),
        )


def write_evaluations(
    path: Pathlike, results: Mapping[str, Evaluation], sentences: Sequence[str] = ()
) -> Path:
    """Write evaluations of several methods on the same folds to a self-contained HTML file.

    Parameters
    ----------
    path : str or path
    results : mapping of str to Evaluation
        Names of the methods, and their results.
    sentences : sequence of str, optional
        Text below the table.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> result = pk.evaluate(data, model=pk.PropagationKernel(t_max=1), cv=3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_evaluations(f"{folder}/page.html", {"PK": result}).stat().st_size > 5000
    True
    """
    from propkernels.plotting.pages import render_page
    from propkernels.plotting.pages.fragments import Drawing

    first = next(iter(results.values()))
    (repeats, n_folds), (head, _) = first.scores.shape, first._cells()
    best = max(results, key=lambda name: results[name].mean)
    rows, confusions = list[list[Any]](), list[dict[str, Any]]()
    for name, one in results.items():
        scores = [one.format_score(value) for value in (one.mean, one.standard_error)]
        chosen = [one.describe_choices(parameter) for parameter in ("t_max", "C")]
        rows.append([name, *scores, *chosen, round(one.seconds, 2)])
        if one.confusion is not None and len(one.classes) <= MOST_CLASSES:
            confusions.append({"name": name, "classes": one.classes, "rows": _shaded(one)})
    page = render_page(
        "models/evaluations.html.j2",
        title=f"{first.data}: {first.metric} in cross-validation",
        key_figures=[
            (results[best].format_score(results[best].mean), f"{first.metric} of {best}, the best"),
            (n_folds if repeats == 1 else f"{repeats} x {n_folds}", "test folds"),
            (len(results), "methods"),
        ],
        caption=f"{first.protocol}; all methods used the same folds",
        head=["method", first.metric, "std. error", "t_max", "C", "seconds"],
        rows=rows,
        sentences=sentences,
        folds=Drawing(folds_svg(results)),
        confusions=confusions,
        best=best,
        fold_head=head,
        choices=[(name, one._cells()[1]) for name, one in results.items()],
    )
    with atomic_write(path, text=True) as stream:
        stream.write(page)
    return Path(path)


def _shaded(result: Evaluation) -> list[tuple[str, list[tuple[int, str, int]], str]]:
    """Return rows of a confusion matrix; each cell has a number, a color and its strength."""
    rows = []
    for i, counts in enumerate(np.asarray(result.confusion).tolist()):
        total = max(sum(counts), 1)
        cells = [
            (count, "good" if i == j else "bad", round(STRONGEST * count / total))
            for j, count in enumerate(counts)
        ]
        rows.append((result.classes[i], cells, f"{100 * counts[i] / total:.1f} %"))
    return rows


def folds_svg(results: Mapping[str, Evaluation]) -> str:
    """Return an SVG strip chart: one row per method, a dot per fold, and a line at the mean."""
    from propkernels.plotting.pages.svg import Strip, strip_chart

    strips = []
    for name, result in results.items():
        dots = [
            (float(score), f"repeat {r}, fold {f}: {result.format_score(float(score))}")
            for (r, f), score in np.ndenumerate(result.scores)
        ]
        strips.append(Strip(name, dots, result.mean))
    is_share = next(iter(results.values())).metric == "accuracy"

    def tick(value: float) -> str:
        return f"{100 * value:.3g} %" if is_share else f"{value:.3g}"

    return strip_chart("scores of the folds", strips, tick)
