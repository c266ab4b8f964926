"""Compiled loops over postings and segments; invalid offsets are detected, since files may be damaged."""

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


# The directory has two numbers per bin: its code, and the offset of its postings. Codes ascend within a
# stream; every ``width``-th code of a stream is also a fence:
#     codes of the stream   3 5 | 8 9 | 12      width 2: fences 3 8 12
# A code is searched between two fences only: in one page of the directory.


@compiled
def find_blocks(
    codes: Any, streams: Any, stream_ptr: Any, fences: Any, fence_ptr: Any, width: Any, first: Any, last: Any
) -> None:
    """Find the range of bins between two fences, first[i] .. last[i] - 1, that may hold each code.

    Parameters
    ----------
    codes, streams : (codes,), int64
        Codes of a query, and their streams.
    stream_ptr : (streams + 1,), int64
        Offsets of the bins of each stream.
    fences : (fences,), int64
        Every ``width``-th code of each stream.
    fence_ptr : (streams + 1,), int64
        Offsets of the fences of each stream.
    width : int
    first, last : (codes,), int64, modified
    """
    for i in range(len(codes)):
        s, code = streams[i], codes[i]
        low, high = fence_ptr[s], fence_ptr[s + 1]
        while low < high:  # binary search for the first fence above the code
            middle = (low + high) // 2
            if fences[middle] <= code:
                low = middle + 1
            else:
                high = middle
        block = low - fence_ptr[s]
        last[i] = min(stream_ptr[s] + block * width, stream_ptr[s + 1])
        first[i] = stream_ptr[s] + max(block - 1, 0) * width


@compiled
def find_bins(codes: Any, first: Any, last: Any, directory: Any, bins: Any) -> None:
    """Find the bin of each code among bins first[i] .. last[i] - 1.

    Parameters
    ----------
    codes, first, last : (codes,), int64
        Codes, and ranges from ``find_blocks``.
    directory : (bins + 1, 2), int64
        Code and first posting of each bin.
    bins : (codes,), int64, modified
        Bin of each code; -1: none.
    """
    for i in range(len(codes)):
        code, low, high = codes[i], first[i], last[i]
        while low < high:
            middle = (low + high) // 2
            if directory[middle, 0] < code:
                low = middle + 1
            else:
                high = middle
        bins[i] = low if low < last[i] and directory[low, 0] == code else -1


@compiled
def find_postings(
    bins: Any, directory: Any, dense_bins: Any, n_words: Any, first: Any, last: Any, rows: Any
) -> Any:
    """Find the postings first[i] .. last[i] - 1 and the dense row of each bin.

    Parameters
    ----------
    bins : (codes,), int64
        Bins; -1: none.
    directory : (bins + 1, 2), int64
        Code and first posting of each bin.
    dense_bins : (rows,), int64
        Bins with a dense row, ascending.
    n_words : int
        Number of words or pairs.
    first, last : (codes,), int64, modified
    rows : (codes,), int64, modified
        Dense row of each bin; -1: none.

    Returns
    -------
    bool
        False: offsets are invalid.
    """
    for i in range(len(bins)):
        b = bins[i]
        first[i], last[i], rows[i] = 0, 0, -1
        if b >= 0:
            first[i], last[i] = directory[b, 1], directory[b + 1, 1]
            if first[i] < 0 or last[i] < first[i] or last[i] > n_words:
                return False
            low, high = 0, len(dense_bins)
            while low < high:
                middle = (low + high) // 2
                if dense_bins[middle] < b:
                    low = middle + 1
                else:
                    high = middle
            if low < len(dense_bins) and dense_bins[low] == b:
                rows[i] = low
    return True


@compiled
def add_packed(first: Any, last: Any, counts: Any, postings: Any, scores: Any) -> Any:
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

    Returns
    -------
    bool
        False: a posting has an invalid graph.
    """
    for i in range(len(first)):
        count = counts[i]
        for place in range(first[i], last[i]):
            word = postings[place]
            graph = word >> PACKED_BITS
            if graph >= len(scores):
                return False
            scores[graph] += count * (word & MOST_PACKED)
    return True


@compiled
def add_pairs(first: Any, last: Any, counts: Any, postings: Any, scores: Any) -> Any:
    """Add (count of the query) * (count of graph g) to scores[g], over pairs.

    Parameters
    ----------
    first, last, counts, scores : arrays
        As in ``add_packed``.
    postings : (2 * pairs,), float32 or float64
        Graph and count of each pair.

    Returns
    -------
    bool
        False: a posting has an invalid graph.
    """
    for i in range(len(first)):
        for place in range(first[i], last[i]):
            graph = postings[2 * place]
            if not 0 <= graph < len(scores):
                return False
            scores[int(graph)] += counts[i] * postings[2 * place + 1]
    return True


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
