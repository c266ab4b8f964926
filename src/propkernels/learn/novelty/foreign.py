"""Graphs that a model cannot know: their nodes start where no training node did."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import Coder, Codes, looked_up
from propkernels.counting.levels import LevelCounter
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.learn.machines.decisions import counted_by
from propkernels.learn.machines.svm import ForeignGraphsWarning
from propkernels.utils.checks import shown

FOREIGN = 0.1  # share of graphs from which on they are spoken about
UNUSUAL = 0.05  # share of a graph's nodes from which on it is foreign, where labels are degrees
MOST_NAMED = 3


def unknown_nodes(rule: Any, graphs: Any, n_jobs: int | None) -> tuple[NDArray[np.bool_], bool] | None:
    """Whether each node starts where no training node did, and whether nodes start as their labels say.

    None where they start with something else than labels or degrees. Only t = 0 is computed, of the first
    kernel that starts so where several are averaged. A node whose label has several entries, each refined
    for itself, is unknown where no training node had any of them.
    """
    try:
        counted = counted_by(rule)
    except TypeError:
        return None
    found = (_unknown(counter, codes, graphs, n_jobs) for counter, codes in counted)
    return next((one for one in found if one is not None), None)


def _unknown(
    counter: Any, codes: list[Codes], graphs: Any, n_jobs: int | None
) -> tuple[NDArray[np.bool_], bool] | None:
    coder: Any = counter.counter if isinstance(counter, LevelCounter) else counter
    source = getattr(coder, "source", None) if getattr(coder, "attributes", None) is None else None
    if not isinstance(coder, Coder) or source is None or not isinstance(graphs, GraphDatabase):
        return None
    streams = [
        looked_up(found.codes, known, np.ones(len(known))) == 0
        for found, known in zip(coder.restricted(0).occurrences(graphs, n_jobs), codes, strict=False)
    ]
    unknown = (np.logical_and if hasattr(coder, "entries") else np.logical_or).reduce(streams)
    return unknown, source == "node"


def warn_if_foreign(rule: Any, graphs: Any, n_jobs: int | None, stacklevel: int) -> None:
    """Say so, in one sentence, if many graphs are foreign."""
    found = unknown_nodes(rule, graphs, n_jobs)
    if found is None or not found[0].any():
        return
    unknown, is_label = found
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
        what = f"nodes that start as no training node did ({share})"
    else:
        ids = np.unique(labels.ids[unknown])
        names = [shown(labels.values[i]) for i in ids[ids >= 0][:MOST_NAMED].tolist()]
        more = ", ..." if np.count_nonzero(ids >= 0) > MOST_NAMED else ""
        which = f", such as {', '.join(names)}{more}" if names else ""
        what = f"node labels that no training graph has{which} ({share})"
    verb = "has" if foreign.sum() == 1 else "have"
    return f"{graphs} {verb} {what}: predictions there are guesses, see applicability"
