"""Compiled loops over postings and segments."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled
from propkernels.search.segment import MOST_PACKED, PACKED_BITS

BLOCK = 2048  # graphs per block, whose scores stay in the cache while rows are added

# Postings are counts by bin: those of bin b are entries bin_ptr[b] .. bin_ptr[b + 1] - 1 of ``graphs`` and
# ``counts``. Three graphs with counts {4: 2}, {4: 1, 5: 3}, {5: 1} of bins have, from bin 4 on,
#     bin_ptr 0 2 4    graphs 0 1 | 1 2    counts 2 1 | 3 1


@compiled
def invert_rows(
    indptr: Any, columns: Any, data: Any, bins: Any, filled: Any, graphs: Any, counts: Any
) -> None:
    """Append the entries of each row (graph) to the bins of their columns.

    Parameters
    ----------
    indptr, columns, data : arrays
        Counts in CSR form, one row per graph.
    bins : (columns,), int64
        Bin of each column.
    filled : (bins,), int64, modified
        Next free entry of each bin.
    graphs, counts : (postings,), modified
        Postings by bin.
    """
    for graph in range(len(indptr) - 1):
        for entry in range(indptr[graph], indptr[graph + 1]):
            b = bins[columns[entry]]
            place = filled[b]
            graphs[place] = graph
            counts[place] = data[entry]
            filled[b] = place + 1


@compiled
def move_postings(
    bin_ptr: Any,
    graphs: Any,
    counts: Any,
    targets: Any,
    number: Any,
    filled: Any,
    to_graphs: Any,
    to_counts: Any,
) -> None:
    """Append the postings of each bin to its target bin, with new numbers of graphs.

    Parameters
    ----------
    bin_ptr : (bins + 1,), int64
        Offsets of the postings of each bin.
    graphs, counts : (postings,)
        Postings.
    targets : (bins,), int64
        Target of each bin.
    number : (graphs,), int64
        New number of each graph; -1: dropped.
    filled : (target bins,), int64, modified
        Next free entry of each target bin.
    to_graphs, to_counts : arrays, modified
        Postings of the target bins.
    """
    # Several bins may share a target: ``filled`` continues from the last of them.
    for b in range(len(targets)):
        place = filled[targets[b]]
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            graph = number[graphs[entry]]
            if graph >= 0:
                to_graphs[place] = graph
                to_counts[place] = counts[entry]
                place += 1
        filled[targets[b]] = place


@compiled
def count_postings(bin_ptr: Any, graphs: Any, targets: Any, number: Any, lengths: Any) -> None:
    """Add the number of postings that each target bin will receive to ``lengths``.

    Parameters
    ----------
    bin_ptr, graphs, targets, number : arrays
        As in ``move_postings``.
    lengths : (target bins,), int64, modified
    """
    # First of two passes: cumulative sums of the lengths are the start offsets for move_postings.
    for b in range(len(targets)):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            if number[graphs[entry]] >= 0:
                lengths[targets[b]] += 1


# A packed count is a sum of bytes: one in the dense row of its bin, if there is one, and one per word
# graph << 8 | byte. With a dense row, a count of 600 is 255 in the row plus the words 255 and 90.


@compiled
def count_words(bin_ptr: Any, counts: Any, is_dense: Any, lengths: Any) -> Any:
    """Add the number of words per bin, beside its dense row, to ``lengths``.

    Parameters
    ----------
    bin_ptr : (bins + 1,), int64
        Offsets of the postings of each bin.
    counts : (postings,), float
    is_dense : (bins,), bool
        Whether the bin has a dense row.
    lengths : (bins,), int64, modified

    Returns
    -------
    bool
        False: a count is not an integer below 2^32.
    """
    for b in range(len(is_dense)):
        in_row = 1 if is_dense[b] else 0
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            count = counts[entry]
            if not 0 <= count < 2**32 or int(count) != count:
                return False
            lengths[b] += max((int(count) + MOST_PACKED - 1) // MOST_PACKED, 1) - in_row
    return True


@compiled
def pack_postings(
    bin_ptr: Any, graphs: Any, counts: Any, rows: Any, first: Any, dense: Any, words: Any
) -> None:
    """Write the postings of each bin into its dense row and into words.

    Parameters
    ----------
    bin_ptr, graphs, counts : arrays
        Postings by bin.
    rows : (bins,), int64
        Dense row of each bin; -1: none.
    first : (bins,), int64
        First word of each bin.
    dense : (rows, graphs), uint8, modified
    words : (words,), uint32, modified
    """
    for b in range(len(rows)):
        place = first[b]
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            graph, rest = int(graphs[entry]), int(counts[entry])
            byte = min(rest, MOST_PACKED)
            if rows[b] >= 0:
                dense[rows[b], graph] = byte
            else:
                words[place] = (graph << PACKED_BITS) | byte
                place += 1
            rest -= byte
            while rest > 0:
                byte = min(rest, MOST_PACKED)
                words[place] = (graph << PACKED_BITS) | byte
                place += 1
                rest -= byte


@compiled
def find_postings(
    codes: Any,
    streams: Any,
    stream_ptr: Any,
    bin_codes: Any,
    bin_ptr: Any,
    dense_bins: Any,
    first: Any,
    last: Any,
    rows: Any,
) -> None:
    """Find the postings first[i] .. last[i] - 1 and the dense row of each code of a query.

    Parameters
    ----------
    codes, streams : (codes,), int64
        Codes of a query, and their streams.
    stream_ptr : (streams + 1,), int64
        Offsets of the bins of each stream.
    bin_codes : (bins,), int64
        Code of each bin, ascending within a stream.
    bin_ptr : (bins + 1,), int64
        Offsets of the postings of each bin.
    dense_bins : (rows,), int64
        Bins with a dense row, ascending.
    first, last : (codes,), int64, modified
        Equal for a code that no graph has.
    rows : (codes,), int64, modified
        Dense row of each code; -1: none.
    """
    for i in range(len(codes)):
        first[i], last[i], rows[i] = 0, 0, -1
        b = _place(codes[i], bin_codes, stream_ptr[streams[i]], stream_ptr[streams[i] + 1])
        if b >= 0:
            first[i], last[i] = bin_ptr[b], bin_ptr[b + 1]
            rows[i] = _place(b, dense_bins, 0, len(dense_bins))


@compiled
def _place(value: Any, values: Any, low: Any, high: Any) -> Any:
    """Return the place of a value among values[low] .. values[high - 1], which ascend; -1: none."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == value else -1


@compiled
def add_packed(first: Any, last: Any, counts: Any, postings: Any, scores: Any) -> None:
    """Add (count of the query) * (count of graph g) to scores[g], over packed postings.

    Parameters
    ----------
    first, last : (codes,), int64
        Ranges of postings of each code.
    counts : (codes,), float64
        Counts of the query.
    postings : (words,), uint32
        Words graph << 8 | count.
    scores : (graphs,), float64, modified
    """
    for i in range(len(first)):
        count = counts[i]
        for place in range(first[i], last[i]):
            word = postings[place]
            scores[word >> PACKED_BITS] += count * (word & MOST_PACKED)


@compiled
def add_pairs(first: Any, last: Any, counts: Any, postings: Any, scores: Any) -> None:
    """Add (count of the query) * (count of graph g) to scores[g], over pairs.

    Parameters
    ----------
    first, last, counts, scores : arrays
        As in ``add_packed``.
    postings : (pairs, 2), float32 or float64
        Graph and count of each pair.
    """
    for i in range(len(first)):
        for place in range(first[i], last[i]):
            scores[int(postings[place, 0])] += counts[i] * postings[place, 1]


@compiled
def add_rows(rows: Any, counts: Any, dense: Any, scores: Any) -> None:
    """Add (count of the query) * dense[row, g] to scores[g], over dense rows.

    Parameters
    ----------
    rows : (codes,), int64
        Dense row of each code; -1: none.
    counts : (codes,), float64
        Counts of the query.
    dense : (rows, graphs), uint8
    scores : (graphs,), float64, modified
    """
    for begin in range(0, len(scores), BLOCK):
        end = min(begin + BLOCK, len(scores))
        block = scores[begin:end]
        for i in range(len(rows)):
            if rows[i] >= 0:
                row, count = dense[rows[i], begin:end], counts[i]
                for graph in range(len(block)):  # slices from 0 on are vectorized
                    block[graph] += count * row[graph]
