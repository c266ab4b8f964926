"""Compiled loops over postings and segments; numbers that lead elsewhere are found, since files may lie."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled
from propkernels.search.segment import MOST_PACKED, PACKED_BITS

BLOCK = 2048  # graphs whose scores stay in the cache while rows are added to them

# Postings are counts by bin: those of bin b are the places bin_ptr[b] .. bin_ptr[b + 1] - 1 of ``graphs`` and
# ``counts``. Three graphs with the bins {4: 2}, {4: 1, 5: 3}, {5: 1} have, from bin 4 on,
#     bin_ptr 0 2 4    graphs 0 1 | 1 2    counts 2 1 | 3 1


@compiled
def invert_rows(
    indptr: Any, columns: Any, data: Any, bins: Any, filled: Any, graphs: Any, counts: Any
) -> None:
    """Append each row's entries to the bins of their columns, of which ``filled`` is the next free place."""
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
    """Append each bin's postings to its target bin, of which ``filled`` is the next free place.

    Graphs get the numbers that ``number`` says; those with -1 are left out.
    """
    # Several bins may have one target: ``filled`` goes on where the last of them stopped.
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
    """Add to ``lengths`` how many postings each target bin will get."""
    # The first of two passes: cumulative sums of the lengths are where move_postings starts to fill each bin.
    for b in range(len(targets)):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            if number[graphs[entry]] >= 0:
                lengths[targets[b]] += 1


# Packed, a count is a sum of bytes: of one in the row of its bin, if the bin has a row, and of one per word
# graph << 8 | byte. With a row, a count of 600 is 255 there and the words 255 and 90.


@compiled
def count_words(bin_ptr: Any, counts: Any, is_dense: Any, lengths: Any) -> Any:
    """Count the words that each bin takes beside its row, if it has one; False: a count is not whole."""
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
    """Write the postings of each bin into its row, -1: none, and into words from first[b] on."""
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


# The directory has two numbers for each bin: its code, and where its postings begin. Those of a stream ascend
# by code; every ``width``-th code of a stream is also among the fences, which are few:
#     codes of the stream   3 5 | 8 9 | 12      width 2: fences 3 8 12
# A code is looked for between two fences: in one page of the directory.


@compiled
def find_blocks(
    codes: Any, streams: Any, stream_ptr: Any, fences: Any, fence_ptr: Any, width: Any, first: Any, last: Any
) -> None:
    """Between which bins first[i] .. last[i] - 1 a code must be, if it is there at all."""
    for i in range(len(codes)):
        s, code = streams[i], codes[i]
        low, high = fence_ptr[s], fence_ptr[s + 1]
        while low < high:  # the first fence beyond the code
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
    """The bin of each code among first[i] .. last[i] - 1; -1: none."""
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
    """Postings first[i] .. last[i] - 1 and the row of each bin, -1: none; False: they lie elsewhere."""
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
    """scores[g] += the query's count * count of g, over postings graph << 8 | count; False: no such graph."""
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
    """As ``add_packed``, over postings that are two numbers each: graph and count."""
    for i in range(len(first)):
        for place in range(first[i], last[i]):
            graph = postings[2 * place]
            if not 0 <= graph < len(scores):
                return False
            scores[int(graph)] += counts[i] * postings[2 * place + 1]
    return True


@compiled
def add_rows(rows: Any, counts: Any, dense: Any, scores: Any) -> None:
    """scores[g] += count of the query * dense[row, g], over rows of counts of all graphs; -1: no row."""
    for begin in range(0, len(scores), BLOCK):
        end = min(begin + BLOCK, len(scores))
        block = scores[begin:end]
        for i in range(len(rows)):
            if rows[i] >= 0:
                row, count = dense[rows[i], begin:end], counts[i]
                for graph in range(len(block)):  # over slices from 0 on, which become vector instructions
                    block[graph] += count * row[graph]
