"""Compiled loops from codes to counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.addresses import Arrays, array_at
from propkernels._utils.arrays import power_of_two
from propkernels._utils.crew import job_of, share
from propkernels._utils.jit import compiled, count_numbers, prefetch
from propkernels._utils.mixing import mix_word, slot_bits, slots_for
from propkernels.codes.codes_compiled import join

APART = 16  # numbers of 64 bits between those that different threads write often: two cache lines
AHEAD = 12  # codes between a request for a slot and its use


class Room(NamedTuple):
    """Workspace for rows of n codes.

    ``slots`` is a hash table: the bin of each code, -1 in free slots. ``place`` is the entry that a bin was
    last written to.
    """

    slots: Any
    place: Any

    @classmethod
    def make(cls, n: int, n_threads: int) -> Room:
        """Return the arrays of workspaces for n codes, a row for each thread."""
        slots = np.empty((n_threads, power_of_two(2 * n)), dtype=np.int32)
        return cls(slots, np.empty((n_threads, n), dtype=np.int32))


class Counted(NamedTuple):
    """Count matrices (graphs by bins) of several rows of codes, concatenated.

    Row r has the CSR arrays ``indptr[r]``, ``indices[a:b]`` and ``counts[a:b]``, where a = ``entry_ends[r]``
    and b = ``entry_ends[r + 1]``, and ``codes[bin_ends[r] : bin_ends[r + 1]]`` are the codes of its bins.
    """

    indptr: Any
    indices: Any
    counts: Any
    codes: Any
    entry_ends: Any
    bin_ends: Any

    @classmethod
    def make(cls, n_rows: int, n: int, n_graphs: int) -> Counted:
        """Return arrays for the counts of ``n_rows`` rows of n codes; unused parts take no memory."""
        indptr = np.zeros((n_rows, n_graphs + 1), dtype=np.int32)
        indices, counts = np.empty(n_rows * n, dtype=np.int32), np.empty(n_rows * n, dtype=np.float64)
        entry_ends, bin_ends = np.zeros((2, n_rows + 1), dtype=np.int64)
        return cls(indptr, indices, counts, np.empty(n_rows * n, dtype=np.int64), entry_ends, bin_ends)


@compiled(cache=False)
def _slot(code: Any, slots: Any, bins: Any) -> Any:
    """Return the slot of a code, or a free slot for it; ``bins`` are the codes of the bins in the table."""
    mask = np.uint64(len(slots) - 1)
    slot = slot_bits(code) & mask
    while slots[slot] >= 0 and bins[np.uint64(slots[slot])] != code:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled(cache=False)
def count_row(codes: Any, graph_ptr: Any, no_bin: int, room: Any, counted: Any, r: int) -> None:
    """Count the codes of each graph as row r of ``counted``, whose rows 0 .. r - 1 are filled.

    Bins are numbered in order of appearance, and so are the entries of a graph. See :func:`count_rows`.
    """
    # place[b] is the entry that bin b was last written to. Entries of the current graph begin at row_start,
    # so place[b] >= row_start says that this graph has met the bin before, and ``place`` is never reset:
    #     graph 0 has the bins 5 5 7: entries 0 (bin 5, twice) and 1 (bin 7); place[5] = 0, place[7] = 1
    #     graph 1 has the bins 7 9:   row_start = 2, so place[7] = 1 is stale: entries 2 (bin 7), 3 (bin 9)
    slots, place = room.slots, room.place
    bins, indptr = counted.codes[counted.bin_ends[r] :], counted.indptr[r]
    indices, counts = counted.indices[counted.entry_ends[r] :], counted.counts[counted.entry_ends[r] :]
    slots[:] = -1
    mask, n_bins, filled = np.uint64(len(slots) - 1), 0, 0
    for graph in range(len(graph_ptr) - 1):
        row_start = filled
        for node in range(graph_ptr[graph], graph_ptr[graph + 1]):
            if node + AHEAD < len(codes):
                prefetch(slots, slot_bits(codes[node + AHEAD]) & mask)
            if codes[node] == no_bin:
                continue
            slot = _slot(codes[node], slots, bins)
            if slots[slot] < 0:
                slots[slot] = n_bins
                bins[n_bins] = codes[node]
                n_bins += 1
            elif place[np.uint64(slots[slot])] >= row_start:
                counts[place[np.uint64(slots[slot])]] += 1.0
                continue
            place[np.uint64(slots[slot])] = filled
            indices[filled], counts[filled] = slots[slot], 1.0
            filled += 1
        indptr[graph + 1] = filled
    counted.entry_ends[r + 1] = counted.entry_ends[r] + filled
    counted.bin_ends[r + 1] = counted.bin_ends[r] + n_bins


# These loops assign no slices to slices, and the caller allocates arrays, since compiling that takes long.
@compiled(cache=False)
def _count_one(
    codes: Any,
    rows: Any,
    graph_ptr: Any,
    no_bin: int,
    slots: Any,
    place: Any,
    counted: Any,
    thread: int,
    k: int,
) -> None:
    r, n = len(rows) - 1 - k, codes.shape[1]  # later iterations have more bins: longest first
    own = Counted(
        counted.indptr[r : r + 1],
        counted.indices[r * n : (r + 1) * n],
        counted.counts[r * n : (r + 1) * n],
        counted.codes[r * n : (r + 1) * n],
        counted.entry_ends[r],
        counted.bin_ends[r],
    )
    count_row(codes[rows[r]], graph_ptr, no_bin, Room(slots[thread], place[thread]), own, 0)


_count_one_job = job_of(_count_one)


def _numbers_of_rows(crew: Any, first: int, last: int, work: Any) -> int:
    return count_numbers(work)


@compiled(passes=_numbers_of_rows)
def count_rows(crew: Any, first: int, last: int, work: Any) -> None:
    """Count the codes of each graph, for several rows of codes.

    The work is, in this order:

    Parameters
    ----------
    codes : ndarray of int64, (all rows, nodes)
    rows : ndarray of int64
        Rows of ``codes`` to count.
    graph_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes.
    no_bin : int
        Code of nodes that are not counted.
    slots, place : ndarray, (threads, ...)
        The arrays of a :class:`Room` for each thread.
    counted : Counted
        Output: row r begins at r times the number of nodes, and has the ends ``entry_ends[r]``, 0 and its
        length, and ``bin_ends[r]``.
    """
    share(crew, first, last, _count_one_job(work))


@compiled(passes=count_numbers)
def number_codes(codes: Any, slots: Any, bins: Any, n_bins: int, numbers: Any) -> Any:
    """Write the number of each code in ``bins``; append new codes; return the number of bins.

    Parameters
    ----------
    codes : ndarray of int64
    slots : ndarray of int32
        Hash table of the first ``n_bins`` bins, -1 in free slots; new ones are added.
    bins : ndarray of int64
        Distinct codes.
    n_bins : int
    numbers : ndarray of int32, (codes,)
        Output.
    """
    mask = np.uint64(len(slots) - 1)
    for k in range(len(codes)):
        if k + AHEAD < len(codes):
            prefetch(slots, slot_bits(codes[k + AHEAD]) & mask)
        slot = _slot(codes[k], slots, bins)
        if slots[slot] < 0:
            slots[slot] = n_bins
            bins[n_bins] = codes[k]
            n_bins += 1
        numbers[k] = slots[slot]
    return n_bins


@compiled(passes=count_numbers)
def place_list(own: Any, numbers: Any, own_counts: Any, columns: Any, counts: Any) -> None:
    """Write entries with the number of their bin in ``numbers``, and copy their counts."""
    for entry in range(len(own)):
        columns[entry] = numbers[np.uint64(own[entry])]
        counts[entry] = own_counts[entry]


@compiled
def find_known(codes: Any, known: Any) -> Any:
    """Return the position in ``known`` of each of the distinct codes; -1: not in it."""
    # The table holds ``codes``, which are few; ``known``, which may be long, is looked up in it.
    slots = np.full(slots_for(2 * len(codes) + 1), -1, dtype=np.int32)
    for i in range(len(codes)):
        slots[_slot(codes[i], slots, codes)] = i
    found = np.full(len(codes), -1, dtype=np.int32)
    for place in range(len(known)):
        slot = _slot(known[place], slots, codes)
        if slots[slot] >= 0:
            found[slots[slot]] = place
    return found


@compiled(cache=False)
def _sort_row(indices: Any, counts: Any, start: int, stop: int) -> None:
    """Sort the entries start .. stop - 1 by column, in place."""
    if stop - start > 64:
        order = np.argsort(indices[start:stop])
        columns, values = indices[start:stop][order], counts[start:stop][order]
        for k in range(len(order)):
            indices[start + k], counts[start + k] = columns[k], values[k]
        return
    # Insertion: the entries start .. entry - 1 are sorted, and those beyond the new one move up by one place.
    for entry in range(start + 1, stop):
        column, count, k = indices[entry], counts[entry], entry
        while k > start and indices[k - 1] > column:
            indices[k], counts[k] = indices[k - 1], counts[k - 1]
            k -= 1
        indices[k], counts[k] = column, count


@compiled
def sort_rows(indptr: Any, indices: Any, counts: Any) -> None:
    """Sort the entries of each row by column, in place."""
    for row in range(len(indptr) - 1):
        _sort_row(indices, counts, indptr[row], indptr[row + 1])


@compiled
def count_kept(indptr: Any, indices: Any, n_columns: int, lengths: Any) -> None:
    """Add the number of entries of each row in the first ``n_columns`` columns to ``lengths``."""
    # After a call for each stream, ``lengths`` are the lengths of the rows of the joined matrix.
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            lengths[row] += indices[entry] < n_columns


@compiled
def place_stream(
    indptr: Any,
    indices: Any,
    counts: Any,
    n_columns: int,
    offset: int,
    factor: float,
    first: int,
    last: int,
    fill: Any,
    all_indices: Any,
    all_counts: Any,
) -> None:
    """Append a stream to the rows first .. last - 1 of the joined matrix, sorted by column.

    Parameters
    ----------
    indptr, indices, counts : ndarray
        CSR arrays of the stream.
    n_columns : int
        Number of its columns to keep.
    offset : int
        Its first column in the joined matrix.
    factor : float
        Multiplies its counts.
    first, last : int
        Range of rows.
    fill : ndarray of int64, (rows,)
        Next free place of each row of the joined matrix; advanced.
    all_indices, all_counts : ndarray
        Output: columns and counts of the joined matrix.
    """
    # Streams arrive in the order of their offsets, so a row is sorted if each stream's part is.
    for row in range(first, last):
        start = fill[row]
        stop = start
        for entry in range(indptr[row], indptr[row + 1]):
            if indices[entry] < n_columns:
                all_indices[stop] = offset + indices[entry]
                all_counts[stop] = factor * counts[entry]
                stop += 1
        _sort_row(all_indices, all_counts, start, stop)
        fill[row] = stop


@compiled(cache=False)
def _hash_to_columns(codes: Any, salt: Any, word: Any, n_features: Any, no_bin: int, columns: Any) -> None:
    """Write the hashed column of each code, joined with a salt; -1 for nodes that are not counted."""
    mask = n_features - np.uint64(1)
    is_power_of_two = n_features & mask == 0  # then the remainder is the last bits
    for i in range(len(codes)):
        code = codes[i] if salt == no_bin else join(codes[i], salt)
        mixed = mix_word(word ^ np.uint64(code))
        column = np.int64(mixed & mask) if is_power_of_two else np.int64(mixed % n_features)
        columns[i] = -1 if codes[i] == no_bin else column


@compiled(cache=False)
def _hash_piece(
    codes: Any, rows: Any, salts: Any, cuts: Any, words: Any, n_features: Any, no_bin: int, columns: Any,
    thread: int, k: int,
) -> None:  # fmt: skip
    s, part = k // (len(cuts) - 1), k % (len(cuts) - 1)
    a, b = cuts[part], cuts[part + 1]
    _hash_to_columns(codes[rows[s], a:b], salts[s], words[s], n_features, no_bin, columns[s, a:b])


_hash_piece_job = job_of(_hash_piece)


@compiled
def hash_to_columns(crew: Any, first: int, last: int, work: Any) -> None:
    """Write the hashed column of each code of all streams; -1 for nodes that are not counted.

    Piece k is part ``k % parts`` of stream ``k // parts``. The work is, in this order:

    Parameters
    ----------
    codes : ndarray of int64, (rows, nodes)
    rows : ndarray of int64, (streams,)
        Row of each stream.
    salts : ndarray of int64, (streams,)
        What the codes of each stream are joined with; ``no_bin``: nothing.
    cuts : ndarray of int64, (parts + 1,)
        First node of each part.
    words : ndarray of uint64, (streams,)
        Hash of iteration and stream; the column is ``randomness.mix(iteration, stream, code) % n_features``.
    n_features : uint64
    no_bin : int
        Code of nodes that are not counted.
    columns : ndarray of int32 or int64, (streams, nodes)
        Output.
    """
    share(crew, first, last, _hash_piece_job(work))


class Gathered(NamedTuple):
    """Entries of some rows, one row after the other, with room to sort a row.

    ``values`` and ``other_values`` are empty if every entry has the value 1; else ``values`` is ``sums``,
    which takes the sums of entries in the same column.
    """

    columns: Any
    values: Any
    other_columns: Any
    other_values: Any
    sums: Any


@compiled(cache=False)
def gather_columns(
    indptr: Any,
    columns: Any,
    values: Any,
    first: int,
    last: int,
    low: int,
    high: int,
    fill: Any,
    gathered: Any,
) -> None:
    """Append the entries of the rows first .. last - 1 with columns in low .. high - 1, stream by stream.

    Parameters
    ----------
    indptr : ndarray, (rows + 1,)
        Offsets of the rows, the same in all streams.
    columns : ndarray, (streams, entries)
    values : ndarray, (entries,)
        Values of the entries of each stream; empty: every entry has the value 1.
    first, last, low, high : int
    fill : ndarray of int64, (rows,)
        Next free place of each row; advanced.
    gathered : Gathered
    """
    for row in range(first, last):
        at = fill[row - first]
        for s in range(len(columns)):
            for entry in range(indptr[row], indptr[row + 1]):
                if low <= columns[s, entry] < high:
                    gathered.columns[at] = columns[s, entry]
                    if len(values) > 0:
                        gathered.values[at] = values[entry]
                    at += 1
        fill[row - first] = at


@compiled(cache=False)
def _one_digit(
    columns: Any, values: Any, start: int, stop: int, shift: int, places: Any, to: Any, to_values: Any,
    begin: int
) -> None:  # fmt: skip
    """Sort entries by eight bits of their columns, stable, into ``to[begin:]``."""
    for digit in range(256):
        places[digit] = 0
    for entry in range(start, stop):
        places[(columns[entry] >> shift) & 255] += 1
    total = begin
    for digit in range(256):
        size = places[digit]
        places[digit] = total
        total += size
    for entry in range(start, stop):
        digit = (columns[entry] >> shift) & 255
        to[places[digit]] = columns[entry]
        if len(values) > 0:
            to_values[places[digit]] = values[entry]
        places[digit] += 1


@compiled(cache=False)
def _radix_sort(gathered: Any, start: int, stop: int, n_digits: int, places: Any) -> None:
    """Sort the entries start .. stop - 1 by column, stable; ``n_digits`` bytes of columns differ."""
    columns, values, others, other_values, _ = gathered
    for digit in range(n_digits):
        if digit % 2 == 0:
            _one_digit(columns, values, start, stop, 8 * digit, places, others, other_values, 0)
        else:
            _one_digit(others, other_values, 0, stop - start, 8 * digit, places, columns, values, start)
    if n_digits % 2 == 1:
        for entry in range(stop - start):
            columns[start + entry] = others[entry]
            if len(values) > 0:
                values[start + entry] = other_values[entry]


@compiled(cache=False)
def sum_columns(starts: Any, ends: Any, gathered: Any, n_digits: int, places: Any, lengths: Any) -> Any:
    """Sort each row, sum the values of equal columns, move all rows to the front; return the entries left.

    Parameters
    ----------
    starts, ends : ndarray of int64, (rows,)
        Entries of each row in ``gathered``.
    gathered : Gathered
        Sorted columns without repeats, and their sums, are written to the front.
    n_digits : int
        Number of bytes of a column.
    places : ndarray of int64, (256,)
        Workspace.
    lengths : ndarray of int64, (rows,)
        Output: number of entries of each row.
    """
    columns, values, sums = gathered.columns, gathered.values, gathered.sums
    filled = 0
    for row in range(len(starts)):
        start, stop, row_start = starts[row], ends[row], filled
        _radix_sort(gathered, start, stop, n_digits, places)
        for entry in range(start, stop):
            value = values[entry] if len(values) > 0 else 1.0
            column = columns[entry]
            if filled > row_start and columns[filled - 1] == column:
                sums[filled - 1] += value
            else:
                columns[filled], sums[filled] = column, value  # filled <= entry: that entry has been read
                filled += 1
        lengths[row] = filled - row_start
    return filled


class Sources(NamedTuple):
    """Entries of all rows, from several sources of several streams each.

    Attributes
    ----------
    indptr : Arrays
        Offsets of the rows of each source.
    columns : Arrays
        Columns of each source, (streams, entries), flat; -1: none.
    n_streams : ndarray of int64, (sources,)
    values : Arrays
        Values of the entries in each stream of a source; empty: all 1.
    """

    indptr: Arrays
    columns: Arrays
    n_streams: Any
    values: Arrays


class Summed(NamedTuple):
    """Room for the summed entries of all pieces, and for one row of each thread.

    Attributes
    ----------
    places : ndarray of int64, (pieces + 1,)
        Where the entries of each piece begin.
    rows : ndarray of int64, (pieces + 1,)
        Where the rows of each piece begin.
    columns, sums : ndarray
        Columns and sums of entries, by ``places``.
    lengths : ndarray of int64
        Number of entries of each row, by ``rows``.
    starts, ends : ndarray of int64
        Workspace, by ``rows``.
    other_columns, other_values, digits : ndarray, (threads, ...)
        Workspace; no ``other_values`` if all values are 1.
    """

    places: Any
    rows: Any
    columns: Any
    sums: Any
    lengths: Any
    starts: Any
    ends: Any
    other_columns: Any
    other_values: Any
    digits: Any


@compiled(cache=False)
def _sum_piece(
    sources: Any, pieces: Any, ptr: Any, n_digits: int, summed: Any, filled: Any, thread: int, k: int
) -> None:
    first, last, low, high = pieces[k]
    rows = slice(summed.rows[k], summed.rows[k + 1])
    starts, ends = summed.starts[rows], summed.ends[rows]
    for row in range(last - first):
        starts[row] = ptr[first + row] - ptr[first]
        ends[row] = starts[row]
    own = slice(summed.places[k], summed.places[k + 1])
    columns, sums = summed.columns[own], summed.sums[own]
    other_values = summed.other_values[thread]
    gathered = Gathered(
        columns, sums if len(other_values) > 0 else sums[:0], summed.other_columns[thread], other_values, sums
    )
    for source in range(len(sources.n_streams)):
        flat = array_at(sources.columns, source)
        n_streams = sources.n_streams[source]
        by_stream = flat.reshape((n_streams, len(flat) // n_streams))
        entries = array_at(sources.indptr, source), by_stream, array_at(sources.values, source)
        gather_columns(*entries, first, last, low, high, ends, gathered)
    filled[k] = sum_columns(starts, ends, gathered, n_digits, summed.digits[thread], summed.lengths[rows])


_sum_piece_job = job_of(_sum_piece)


@compiled
def sum_pieces(crew: Any, first: int, last: int, work: Any) -> None:
    """Gather the entries of pieces, sort each row by column, and sum the values of equal columns.

    The work is, in this order:

    Parameters
    ----------
    sources : Sources
    pieces : ndarray of int64, (pieces, 4)
        Rows first .. last - 1 and columns low .. high - 1 of each piece.
    ptr : ndarray of int64, (rows + 1,)
        Offsets of the rows, over all streams.
    n_digits : int
        Number of bytes of a column.
    summed : Summed
    filled : ndarray of int64, (pieces,)
        Output: number of entries of each piece.
    """
    share(crew, first, last, _sum_piece_job(work))


@compiled(cache=False)
def _size_piece(
    sources: Any, pieces: Any, ptr: Any, n_features: int, sizes: Any, thread: int, k: int
) -> None:
    first, last, low, high = pieces[k]
    if high - low == n_features:
        sizes[k] = ptr[last] - ptr[first]
        return
    total = 0
    for source in range(len(sources.n_streams)):
        flat, indptr = array_at(sources.columns, source), array_at(sources.indptr, source)
        n_entries = len(flat) // sources.n_streams[source]
        for s in range(sources.n_streams[source]):
            for entry in range(s * n_entries + indptr[first], s * n_entries + indptr[last]):
                total += low <= flat[entry] < high
    sizes[k] = total


_size_piece_job = job_of(_size_piece)


@compiled
def size_pieces(crew: Any, first: int, last: int, work: Any) -> None:
    """Write the number of entries of each piece, before equal columns are summed.

    The work is (sources, pieces, ptr, n_features, sizes); see :func:`sum_pieces`.
    """
    share(crew, first, last, _size_piece_job(work))


@compiled(cache=False)
def _place_piece(
    places: Any,
    columns: Any,
    sums: Any,
    ends: Any,
    factor: float,
    indices: Any,
    data: Any,
    thread: int,
    k: int,
) -> None:
    n, first, start = ends[k + 1] - ends[k], ends[k], places[k]
    from_columns, to_columns = columns[start : start + n], indices[first : first + n]
    from_sums, to_sums = sums[start : start + n], data[first : first + n]
    for entry in range(n):  # two loops, each of which is vectorized
        to_columns[entry] = from_columns[entry]
    for entry in range(n):
        to_sums[entry] = from_sums[entry] * factor


_place_piece_job = job_of(_place_piece)


@compiled
def place_pieces(crew: Any, first: int, last: int, work: Any) -> None:
    """Move the entries of piece k from ``places[k]`` to ``ends[k] .. ends[k + 1] - 1``, times a factor.

    The work is (places, columns, sums, ends, factor, indices, data); see :class:`Summed`.
    """
    share(crew, first, last, _place_piece_job(work))


@compiled
def count_levels(indices: Any, counts: Any, most: Any, firsts: Any) -> Any:
    """Write the largest count of each bin and the sum of those before it; return the sum of counts.

    ``most`` is int64, (bins,), and ``firsts`` is int64, (bins + 1,).
    """
    total = np.int64(0)
    most[:] = 0
    for entry in range(len(indices)):
        number = np.int64(counts[entry])
        most[indices[entry]] = max(most[indices[entry]], number)
        total += number
    firsts[0] = 0
    for b in range(len(most)):
        firsts[b + 1] = firsts[b] + most[b]
    return total


@compiled
def list_levels(
    indptr: Any, indices: Any, counts: Any, firsts: Any, level_ptr: Any, columns: Any, ones: Any
) -> None:
    """Replace each entry with count c by the first c level columns of its bin.

    Parameters
    ----------
    indptr, indices, counts : ndarray
        CSR arrays of the counts.
    firsts : ndarray of int64, (bins,)
        Column of the first level of each bin.
    level_ptr, columns, ones : ndarray
        Output: CSR arrays of the levels; all values are 1.
    """
    filled = 0
    level_ptr[0] = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            first = firsts[indices[entry]]
            for level in range(np.int64(counts[entry])):
                columns[filled], ones[filled] = first + level, 1.0
                filled += 1
        level_ptr[row + 1] = filled


@compiled(passes=count_numbers)
def code_levels(codes: Any, most: Any, level_codes: Any) -> None:
    """Write the codes of the levels of each bin: that of the bin, then ``randomness.mix(code, level)``."""
    filled = 0
    for b in range(len(codes)):
        mixed = mix_word(np.uint64(codes[b]))
        for level in range(1, most[b] + 1):
            level_codes[filled] = codes[b] if level == 1 else np.int64(mix_word(mixed ^ np.uint64(level)))
            filled += 1
