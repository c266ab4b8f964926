"""plot_evaluation: scores per fold, side by side; plot_two_sample_test: a statistic among exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.checks import kind_of
from propkernels.models.evaluation_result import Evaluation
from propkernels.plotting.panels import one_axes
from propkernels.sets.two_samples import TwoSampleTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_evaluation(
    evaluations: Evaluation | Sequence[Evaluation] | Mapping[str, Evaluation],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of all folds, their mean and its standard error, one column per evaluation.

    Parameters
    ----------
    evaluations : Evaluation, sequence of Evaluation, or mapping from names to them
        Results of :func:`evaluate`, all with the same metric. Equal folds are connected by faint
        lines. Columns are named by the keys of a mapping, or by the kernels.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    evaluate : Computes the evaluations.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> folds = {"cv": 3, "random_state": 0}
    >>> results = {t: pk.evaluate(data, model=pk.PropagationKernel(t_max=t), **folds) for t in (0, 2)}
    >>> pk.plotting.plot_evaluation(results).get_ylabel()
    'accuracy, %'
    """
    several, labels = _unpack(evaluations)
    unit = 100.0 if several[0].metric == "accuracy" else 1.0
    values = [unit * result.scores.ravel() for result in several]
    ax = one_axes(ax, (1.6 + 1.2 * len(several), 3.8))
    if len({(result.split, result.scores.shape) for result in several}) == 1 and len(several) > 1:
        ax.plot(range(len(several)), np.array(values), color="0.85", linewidth=0.8, zorder=1)
    for at, (result, scores) in enumerate(zip(several, values, strict=True)):
        places = at + _spread(scores)
        ax.scatter(places, scores, s=18, alpha=0.6, color="C0", edgecolors="none", zorder=2)
        mean, error = unit * result.mean, unit * result.standard_error
        line: Any = {"fmt": "_", "color": "black", "markersize": 26, "markeredgewidth": 2, "capsize": 5}
        ax.errorbar(at, mean, error, zorder=3, **line)
    ax.set_xticks(range(len(several)), labels)
    ax.set_xlim(-0.6, len(several) - 0.4)
    ax.set_ylabel("accuracy, %" if unit == 100.0 else several[0].metric)
    ax.set_title(f"{several[0].data}, {several[0].protocol}", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _spread(scores: Any) -> Any:
    """Return the horizontal offset of each dot, so that equal scores stand side by side."""
    places = np.zeros(len(scores))
    for value in np.unique(scores):
        same = np.flatnonzero(scores == value)
        places[same] = np.clip(0.07 * (np.arange(len(same)) - (len(same) - 1) / 2), -0.35, 0.35)
    return places


def _unpack(evaluations: Any) -> tuple[list[Evaluation], list[str]]:
    """Return the evaluations and one name per evaluation."""
    keys: list[Any] = []
    if isinstance(evaluations, Mapping):
        keys, several = list(evaluations), list(evaluations.values())
    else:
        several = [evaluations] if isinstance(evaluations, Evaluation) else list(evaluations)
    if not several or not all(isinstance(result, Evaluation) for result in several):
        raise TypeError("evaluations must be one or several results of evaluate")
    if len({result.metric for result in several}) > 1:
        raise ValueError(f"evaluations have different metrics: {sorted({r.metric for r in several})}")
    return several, [str(key) for key in keys or [result.kernel for result in several]]


def plot_two_sample_test(found: TwoSampleTest, *, ax: Axes | None = None) -> Axes:
    """Draw the statistic of a test as a line, and a histogram of the statistics after random exchanges.

    Parameters
    ----------
    found : TwoSampleTest
        Result of :func:`propkernels.two_sample_test`.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    propkernels.two_sample_test : The test.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> ax = pk.plotting.plot_two_sample_test(pk.two_sample_test(graphs[:30], graphs[30:], n_permutations=99))
    >>> ax.get_xlabel()
    'MMD$^2$'
    """
    if not isinstance(found, TwoSampleTest):
        raise TypeError(f"found must be a result of two_sample_test, got {kind_of(found)}")
    ax = one_axes(ax, (5.0, 3.2))
    ax.hist(found.permuted, bins=24, color="0.75", label="after exchanges of graphs")
    ax.axvline(found.statistic, color="C3", label=f"observed, p = {found.p_value:.3g}")
    ax.set_xlabel("MMD$^2$")
    ax.set_ylabel("exchanges")
    ax.legend(frameon=False)
    return ax
