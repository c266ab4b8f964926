"""The warning that a model is asked about graphs unlike its training graphs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class ForeignGraphsWarning(UserWarning):
    """A model is asked about graphs that are unlike those it was fitted on.

    Raised by ``predict`` of :class:`PropagationClassifier` and :class:`PropagationRegressor` if at least one
    graph in ten has node labels that no training graph has; without labels, degrees, of at least one node in
    twenty.

    See Also
    --------
    PropagationClassifier : Its ``applicability`` says which nodes are unknown, at which radius.
    NoveltyDetector : Scores and p-values for whole graphs.

    References
    ----------
    .. [1] F. Sahigara, K. Mansouri, D. Ballabio, A. Mauri, V. Consonni and R. Todeschini (2012). Comparison
       of different approaches to define the applicability domain of QSAR models. Molecules 17 (5), 4791-4810.
       doi:10.3390/molecules17054791.

    Examples
    --------
    It is turned off as any other warning:

    >>> import warnings
    >>> import propkernels as pk
    >>> warnings.simplefilter("ignore", pk.ForeignGraphsWarning)
    """


@contextmanager
def foreign_graphs_allowed() -> Iterator[None]:
    """Silence the warning, where folds may well lack a label; around threads, not in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignGraphsWarning)
        yield
