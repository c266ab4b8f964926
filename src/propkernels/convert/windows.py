"""cut_windows: graphs in time, cut into one graph per window of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import offsets
from propkernels._utils.checks import check_finite, check_positive
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

EPSILON = float(np.finfo(np.float64).eps)
MOST_WINDOWS = 2**40  # numbers of windows must be exact as floats, and differ for different times


def cut_windows(graphs: GraphDatabase, length: float, *, start: float | None = None) -> GraphDatabase:
    """Return graphs in time as one graph per window of time.

    Window k holds the nodes with start + k * length <= time < start + (k + 1) * length, up to the rounding of
    these numbers, and the edges between them. Windows without nodes are left out.

    Parameters
    ----------
    graphs : GraphDatabase
        Graphs in time, such as one long stream of contacts.
    length : float
        Length of a window, in the unit of the times: seconds, if the times were dates.
    start : float, optional
        Begin of a window; default: the first time of all graphs.

    Returns
    -------
    GraphDatabase
        Graphs in time, by graph, then by window; their ids are the begins of their windows or, of several
        graphs, "graph/begin".

    See Also
    --------
    from_contacts : Graphs in time from a table of contacts.
    DriftDetector : Tests windows one after the other.

    Examples
    --------
    >>> import pandas as pd, propkernels as pk
    >>> met = pd.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "c"], "time": [0, 1, 12]})
    >>> pk.convert.cut_windows(pk.from_contacts(met, graph=None), 10).ids.tolist()
    ['0', '10']
    """
    moments = getattr(graphs, "moments", None)
    if moments is None:
        raise TypeError("windows need graphs in time: use from_contacts")
    number, begin = window_numbers(moments.times, length, start)
    first, last = int(number.min(initial=0)), int(number.max(initial=0))
    keys = graphs.graph_ids.astype(np.int64) * (last - first + 1) + (number - first)
    found, window = np.unique(keys, return_inverse=True)
    order = np.argsort(window, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    owner, which = np.divmod(found, last - first + 1)
    cut = _with_order(graphs, order, place, window, len(found))
    begins = begin + (which + first) * float(length)
    return cut.with_ids(_ids(graphs, owner, begins)).with_moments(
        moments.vertices.take(order), moments.times[order]
    )


def window_numbers(
    times: NDArray[np.float64], length: float, start: float | None
) -> tuple[NDArray[np.int64], float]:
    """Return the number of each time's window, and the begin of window 0."""
    begin = float(times.min(initial=np.inf)) if start is None else start
    begin = 0.0 if not len(times) and start is None else begin
    length, begin = check_positive(length, "length"), check_finite(begin, "start")
    with np.errstate(over="ignore"):
        exact = (times - begin) / length
        # twice the rounding of both times, of their difference, of the length and of the ratio
        rounding = EPSILON * ((np.abs(times) + abs(begin)) / length + 3 * np.abs(exact))
    if not (np.abs(exact) < MOST_WINDOWS).all() or not (rounding < 0.5).all():
        raise ValueError(f"windows of length {length:g} are too short for these times")
    return np.floor(exact + rounding).astype(np.int64), begin


def _with_order(
    graphs: GraphDatabase, order: NDArray[Any], place: NDArray[Any], window: NDArray[Any], n_windows: int
) -> GraphDatabase:
    """Return the nodes in another order, one graph per window, with the edges inside windows."""
    matrix, edges, labels = graphs.adjacency, graphs.edge_label_column, graphs.label_column
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(matrix.indptr))
    inside = np.flatnonzero(window[rows] == window[matrix.indices])
    ends = place[rows[inside]], place[matrix.indices[inside]]
    shape = (graphs.n_nodes, graphs.n_nodes)
    attributes = graphs.node_attributes
    return GraphDatabase(
        coo_array((matrix.data[inside], ends), shape=shape),
        offsets(np.bincount(window, minlength=n_windows)),
        None if labels is None else labels.take(order),
        None if attributes is None else attributes[order],
        edge_labels=None if edges is None else LabelColumn(edges.ids[inside], edges.values),
    )


def _ids(graphs: GraphDatabase, owner: NDArray[Any], begins: NDArray[np.float64]) -> list[str]:
    texts = [f"{begin:.15g}" for begin in begins.tolist()]
    if len(set(texts)) < len(set(begins.tolist())):
        texts = [f"{begin:.17g}" for begin in begins.tolist()]
    if len(graphs) < 2:
        return texts
    names = range(len(graphs)) if graphs.ids is None else graphs.ids
    return [f"{names[i]}/{text}" for i, text in zip(owner.tolist(), texts, strict=True)]
