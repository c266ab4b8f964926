"""Foreign graphs: warn about node labels or degrees that occur in no training graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.randomness import label_keys
from propkernels.counts.counters import Coder
from propkernels.explain.members import Counted
from propkernels.explain.rule import Rule
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.initial import UNKNOWN

FOREIGN = 0.1  # share of foreign graphs that triggers a warning
UNUSUAL = 0.05  # share of nodes with unseen degrees that makes an unlabeled graph foreign
MOST_NAMED = 3
NOT_LABELS = (None, "degree", "log_degree")  # sources of codes


class ForeignGraphsWarning(UserWarning):
    """Warning that graphs to predict are unlike the training graphs.

    Issued by all methods of :class:`PropagationClassifier` and :class:`PropagationRegressor` that predict, if
    at least one graph in ten has node labels that no training graph has, such as labels of another reader;
    without labels, if at least one node in twenty has a degree that no training graph has.

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


@contextmanager
def foreign_graphs_allowed() -> Iterator[None]:
    """Silence ForeignGraphsWarning, since folds may lack a label; use around threads, not in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignGraphsWarning)
        yield


def known_labels(rule: Rule, graphs: Any) -> NDArray[np.uint64] | None:
    """Return the keys of the node labels of training graphs, sorted; None if the rule reads no labels."""
    keys = _keys(graphs)
    sources = [getattr(vocabulary.counter, "source", "node") for vocabulary in rule.vocabularies]
    is_blind = bool(sources) and all(source in NOT_LABELS for source in sources)
    return None if keys is None or is_blind else np.unique(keys)


def unknown_labels(known: NDArray[np.uint64], graphs: Any) -> NDArray[np.bool_] | None:
    """Return a mask of nodes whose label no training graph has; None without labels."""
    keys = _keys(graphs)
    if keys is None:
        return None
    return np.asarray(~np.isin(keys, known) & graphs.label_column.observed)


def _keys(graphs: Any) -> NDArray[np.uint64] | None:
    """Return a key of each node's label, of several entries that begin with a text: of it and their number.

    The first entry is the symbol of an atom; the others may be as rare as neighborhoods. Labels of readers
    that give other entries have other keys.
    """
    column = graphs.label_column if isinstance(graphs, GraphDatabase) else None
    if not isinstance(column, LabelColumn):
        return None
    names = [
        (value[0], len(value)) if isinstance(value, tuple) and value and isinstance(value[0], str) else value
        for value in column.values
    ]
    return label_keys((*names, UNKNOWN))[column.ids]


def unknown_degrees(rule: Rule, counted: Counted) -> NDArray[np.bool_] | None:
    """Return a mask of nodes whose degree no training node has; None if codes do not start from degrees."""
    for vocabulary in rule.vocabularies:
        coder: Any = vocabulary.counter
        source = getattr(coder, "source", None) if getattr(coder, "attributes", None) is None else None
        if isinstance(coder, Coder) and source is not None and isinstance(counted.graphs, GraphDatabase):
            entries = counted.entries(vocabulary)
            if entries.places is None:
                continue
            columns = entries.columns.reshape(entries.places.shape)
            first = np.flatnonzero(entries.iterations == 0)
            return np.logical_or.reduce([columns[s][entries.places[s]] < 0 for s in first])
    return None


def warn_if_foreign(unknown: NDArray[np.bool_], graphs: Any, is_label: bool, stacklevel: int) -> None:
    """Warn, in one sentence, if many graphs have unknown nodes."""
    if not unknown.any():
        return
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
