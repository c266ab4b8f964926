"""Foreign graphs: warn about node labels or degrees that occur in no training graph."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.counts.counters import Coder
from propkernels.explain.members import Counted
from propkernels.explain.rule import Rule
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

FOREIGN = 0.1  # share of foreign graphs that triggers a warning
UNUSUAL = 0.05  # share of nodes with unseen degrees that makes an unlabeled graph foreign
MOST_NAMED = 3


class ForeignGraphsWarning(UserWarning):
    """Warning that graphs to predict are unlike the training graphs.

    Issued by ``predict`` of :class:`PropagationClassifier` and :class:`PropagationRegressor` if at least one
    graph in ten has node labels that no training graph has; without labels, if at least one node in twenty
    has a degree that no training graph has.

    See Also
    --------
    PropagationClassifier : Its ``applicability`` lists the unknown nodes and their radius.
    NoveltyDetector : Scores and p-values for whole graphs.

    References
    ----------
    .. [1] F. Sahigara, K. Mansouri, D. Ballabio, A. Mauri, V. Consonni and R. Todeschini (2012). Comparison
       of different approaches to define the applicability domain of QSAR models. Molecules 17 (5), 4791-4810.
       doi:10.3390/molecules17054791.

    Examples
    --------
    Silence the warning:

    >>> import warnings
    >>> import propkernels as pk
    >>> warnings.simplefilter("ignore", pk.models.ForeignGraphsWarning)
    """


def unknown_nodes(rule: Rule, counted: Counted) -> tuple[NDArray[np.bool_], bool] | None:
    """Return a mask of nodes whose initial code no training node has, and whether codes start from labels.

    None if initial codes are neither labels nor degrees. Of a label with several entries, only the first is
    compared: the symbol of an atom.
    """
    for vocabulary in rule.vocabularies:
        coder: Any = vocabulary.counter
        source = getattr(coder, "source", None) if getattr(coder, "attributes", None) is None else None
        if isinstance(coder, Coder) and source is not None and isinstance(counted.graphs, GraphDatabase):
            entries = counted.entries(vocabulary)
            if entries.places is None:
                continue
            n_first = 1 if hasattr(coder, "entries") else int(np.sum(entries.iterations == 0))
            columns = entries.columns.reshape(entries.places.shape)
            unknown = [columns[s][entries.places[s]] < 0 for s in range(n_first)]
            return np.logical_or.reduce(unknown), source == "node"
    return None


def warn_if_foreign(
    found: Sequence[tuple[NDArray[np.bool_], bool] | None], graphs: Any, stacklevel: int
) -> None:
    """Warn, in one sentence, if many graphs are foreign; ``found`` lists batches of these graphs."""
    parts = [batch for batch in found if batch is not None]
    if not parts or not any(unknown.any() for unknown, _ in parts):
        return
    unknown, is_label = np.concatenate([mask for mask, _ in parts]), parts[0][1]
    ends = np.concatenate([[0], np.cumsum(unknown)])
    numbers = np.diff(ends[graphs.graph_ptr])
    labels = graphs.label_column if is_label else None
    least = np.ones(len(graphs)) if is_label else UNUSUAL * graphs.graph_sizes
    foreign = (numbers > 0) & (numbers >= least)
    if foreign.mean() >= FOREIGN:
        warnings.warn(_sentence(foreign, unknown, labels), ForeignGraphsWarning, stacklevel=stacklevel + 1)


def _sentence(foreign: NDArray[np.bool_], unknown: NDArray[np.bool_], labels: Any) -> str:
    graphs = f"{int(foreign.sum())} of {len(foreign)} graphs"
    share = f"{100 * unknown.mean():.1f} % of all nodes"
    if not isinstance(labels, LabelColumn):
        what = f"nodes whose initial code occurs in no training graph ({share})"
    else:
        ids = np.unique(labels.ids[unknown])
        names = [shown(labels.values[i]) for i in ids[ids >= 0][:MOST_NAMED].tolist()]
        more = ", ..." if np.count_nonzero(ids >= 0) > MOST_NAMED else ""
        which = f", such as {', '.join(names)}{more}" if names else ""
        what = f"node labels that no training graph has{which} ({share})"
    verb = "has" if foreign.sum() == 1 else "have"
    return f"{graphs} {verb} {what}: predictions for these are unreliable, see applicability"
