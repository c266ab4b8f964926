"""Compiled loops of search by bounds: common levels of all graphs, and of some graphs."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled
from propkernels.search.segment import PACKED_BITS


@compiled
def skip_graphs(first: Any, last: Any, postings: Any, start: Any) -> None:
    """Move the begin of each list to its first graph from ``start`` on.

    Parameters
    ----------
    first : (levels,), int64, modified
    last : (levels,), int64
        Ranges of postings, ascending graphs within.
    postings : (words,), uint32
    start : int
    """
    for i in range(len(first)):
        low, high = first[i], last[i]
        while low < high:
            middle = (low + high) // 2
            if (postings[middle] >> PACKED_BITS) < start:
                low = middle + 1
            else:
                high = middle
        first[i] = low


@compiled
def count_common(first: Any, last: Any, postings: Any, start: Any, common: Any) -> None:
    """Add 1 to common[g - start] for each level of a query that graph g has.

    Parameters
    ----------
    first, last : (levels,), int64
        Ranges of postings of each level.
    postings : (words,), uint32
        Words graph << 8 | 1.
    start : int
        First graph.
    common : (graphs,), uint16, modified
    """
    for i in range(len(first)):
        for place in range(first[i], last[i]):
            common[int(postings[place] >> PACKED_BITS) - start] += 1


@compiled
def count_values(values: Any, numbers: Any) -> None:
    """Add the number of occurrences of each value to ``numbers``; values beyond its end count as the last.

    Parameters
    ----------
    values : (graphs,), uint16
    numbers : (values,), int64, modified
    """
    last = len(numbers) - 1
    for i in range(len(values)):
        numbers[min(int(values[i]), last)] += 1


@compiled
def mark_possible(
    common: Any,
    squares: Any,
    is_possible: Any,
    rest: Any,
    length: Any,
    weight: Any,
    least: Any,
    is_ratio: Any,
) -> None:
    """Mark the graphs whose similarity may be ``least`` if all of the ``rest`` further levels are common.

    Parameters
    ----------
    common : (graphs,), uint16
        Common levels so far.
    squares : (graphs,)
        Number of levels of each graph, times the weight.
    is_possible : (graphs,), bool, modified
    rest : int
    length : float
        Number of levels of the query.
    weight : float
    least : float
    is_ratio : bool
        Jaccard, not intersection.
    """
    if least < 0:
        is_possible[:] = True
    elif is_ratio:
        for g in range(len(common)):
            is_possible[g] = (1 + least) * (common[g] + rest) >= least * (length + squares[g] / weight)
    else:
        factor = least * least * length / weight
        for g in range(len(common)):
            most = float(common[g] + rest)
            is_possible[g] = most * most >= factor * squares[g]


@compiled
def look_up(
    places: Any,
    common: Any,
    lengths: Any,
    first: Any,
    last: Any,
    rows: Any,
    postings: Any,
    dense: Any,
    length: Any,
    least: Any,
    is_ratio: Any,
) -> Any:
    """Complete the common levels of some graphs; drop graphs once their similarity must be below ``least``.

    Parameters
    ----------
    places : (graphs,), int64, ascending, modified
        The graphs; those kept come first.
    common : (graphs,), int64, modified
        Common levels so far.
    lengths : (graphs,), float64, modified
        Number of levels of each graph.
    first, last : (levels,), int64
        Ranges of postings of each remaining level, ascending graphs within.
    rows : (levels,), int64
        Dense row of each remaining level; -1: none.
    postings : (words,), uint32
    dense : (rows, graphs), uint8
    length : float
        Number of levels of the query.
    least : float
        Negative: no graph is dropped.
    is_ratio : bool
        Jaccard, not intersection.

    Returns
    -------
    int
        Number of graphs kept.
    """
    n, rest = len(places), len(rows)
    for i in range(len(rows) + 1):
        if (least >= 0 and i % 4 == 0) or i == len(rows):
            kept = 0
            for j in range(n):
                most, own = min(common[j] + rest, lengths[j]), lengths[j]
                if is_ratio:
                    stays = (1 + least) * most >= least * (length + own)
                else:
                    stays = most * most >= least * least * length * own
                if least < 0 or stays:
                    places[kept], common[kept], lengths[kept] = places[j], common[j], own
                    kept += 1
            n = kept
        if i == len(rows):
            break
        if rows[i] >= 0:
            row = dense[rows[i]]
            for j in range(n):
                common[j] += row[places[j]]
        else:
            _add_list(places, common, n, first[i], last[i], postings)
        rest -= 1
    return n


@compiled
def _add_list(places: Any, common: Any, n: Any, first: Any, last: Any, postings: Any) -> None:
    """Add 1 for each graph that a list of ascending graphs contains: steps double, then halve."""
    low = first
    for j in range(n):
        target = places[j]
        step, high = 1, low
        while high < last and (postings[high] >> PACKED_BITS) < target:
            low = high + 1
            high += step
            step *= 2
        high = min(high, last)
        while low < high:
            middle = (low + high) // 2
            if (postings[middle] >> PACKED_BITS) < target:
                low = middle + 1
            else:
                high = middle
        if low < last and (postings[low] >> PACKED_BITS) == target:
            common[j] += 1
