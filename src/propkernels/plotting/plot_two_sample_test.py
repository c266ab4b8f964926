"""plot_two_sample_test: the statistic of a test of two collections, among those of random exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from propkernels._utils.checks import kind_of
from propkernels.plotting.canvas import one_axes
from propkernels.sets.two_samples import TwoSampleTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
