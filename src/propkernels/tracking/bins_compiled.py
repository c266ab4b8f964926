"""Compiled loops over the bins of one graph: move nodes between bins and list the changes of counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import slot_bits
from propkernels.codes.codes import NO_BIN
from propkernels.codes.codes_compiled import join
from propkernels.counts.entries_compiled import find_column

CODE, STAMP, COLUMN, NUMBER = range(4)  # fields of a cell
EMPTY, SETTLED = 0, -1  # stamps of cells; edits have the stamps 1, 2, ...


class Bins(NamedTuple):
    """Bins of the unedited graph in an open-addressing table, with room for those of an edit.

    ``cells[stream, slot]`` holds a code, a stamp, the column of the code in the vocabulary (-1: none) and the
    number of its items in the unedited graph. A cell is in use if it is SETTLED or has the stamp of the
    current edit, ``stamp[0]``; cells of earlier edits count as empty, so nothing is cleared. ``slots[stream,
    node]`` is the slot of a node's bin (-1: none).

    ``delta[slot]`` is the change of a count by an edit, for one stream at a time; ``touched`` lists the slots
    whose delta was changed, possibly twice. ``delta`` is 0 between streams.
    """

    cells: Any
    slots: Any
    stamp: Any
    delta: Any
    touched: Any


@compiled(cache=False)
def find_slot(cells: Any, stream: int, code: Any, stamp: int, table: Any) -> Any:
    """Return the slot of a code in a stream; a new code takes an empty cell, with the stamp."""
    wrap = np.uint64(cells.shape[1] - 1)
    slot = slot_bits(code) & wrap
    while cells[stream, slot, STAMP] == SETTLED or cells[stream, slot, STAMP] == stamp:
        if cells[stream, slot, CODE] == code:
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & wrap
    first, mask = table.first[stream], np.uint64(table.mask[stream])
    cells[stream, slot, CODE] = code
    cells[stream, slot, STAMP] = stamp
    cells[stream, slot, COLUMN] = find_column(table.codes, table.columns, first, mask, code)
    cells[stream, slot, NUMBER] = 0
    return np.int64(slot)


@compiled(cache=False)
def add_delta(delta: Any, touched: Any, n_touched: int, slot: int, by: int) -> Any:
    """Add ``by`` to a delta, and list its slot if it was 0; return the number of listed slots."""
    if delta[slot] == 0:
        touched[n_touched] = slot
        n_touched += 1
    delta[slot] += by
    return n_touched


@compiled(cache=False)
def list_changes(
    cells: Any, stream: int, delta: Any, touched: Any, n_touched: int, rows: Any, filled: int
) -> Any:
    """Append one row per bin of a stream whose count differs; clear the deltas; return the end of rows."""
    for k in range(n_touched):
        slot = touched[k]
        if delta[slot] != 0:
            number = cells[stream, slot, NUMBER]
            rows[filled, 0] = stream
            rows[filled, 1] = cells[stream, slot, COLUMN]
            rows[filled, 2] = number
            rows[filled, 3] = number + delta[slot]
            delta[slot] = 0
            filled += 1
    return filled


class Coding(NamedTuple):
    """Streams from node codes: stream s joins row ``rows[s]`` of the codes with ``salts[s]``.

    ``iterations[row]`` is the iteration of a row of codes. ``codes[row, node]`` are the codes of the unedited
    graph, and ``new_codes`` those of touched nodes in the edited graph. ``salts[stream, node]`` are attribute
    codes, or None without attributes.
    """

    rows: Any
    iterations: Any
    salts: Any
    codes: Any
    new_codes: Any


@compiled(cache=False)
def stream_code(code: Any, salts: Any, stream: int, node: int) -> Any:
    """Return the code of a node in a stream: its code joined with its attribute code."""
    if salts is None or code == NO_BIN:
        return code
    return join(code, salts[stream, node])


# The loop over moves calls no helper with arrays: numba counts references to an array in every function that
# receives it, which takes longer than a move.


@compiled(cache=False)
def change_counts(
    coding: Any,
    salts: Any,
    touched_nodes: Any,
    ends: Any,
    removed: Any,
    bins: Any,
    table: Any,
    counted: bool,
    rows: Any,
    filled: int,
) -> Any:
    """Move touched nodes to their new bins and list the changes of counts; return the end of rows.

    Without ``counted``, each move out of or into a bin of the vocabulary is a row.

    Parameters
    ----------
    coding : Coding
    salts : ndarray of int64 or None
        ``coding.salts``.
    touched_nodes, ends : ndarray of int64
        Nodes ``touched_nodes[: ends[t]]`` may have other codes at iteration t.
    removed : ndarray of int64, (2,)
        Removed nodes; -1: none.
    bins : Bins
    table : BinTable
    counted : bool
    rows : ndarray of int32, (changes, 4)
        Output; see ``counting.entries.Changes``.
    filled : int
        First free row.
    """
    cells, slots, delta, touched, stamp = bins.cells, bins.slots, bins.delta, bins.touched, bins.stamp[0]
    codes, new_codes = coding.codes, coding.new_codes
    code_rows, iterations = coding.rows, coding.iterations
    table_codes, table_columns, table_first, table_mask = table.codes, table.columns, table.first, table.mask
    wrap = np.uint64(cells.shape[1] - 1)
    for stream in range(len(code_rows)):
        row = code_rows[stream]
        end, n_touched = ends[iterations[row]], 0
        for k in range(end + len(removed)):
            i = touched_nodes[k] if k < end else removed[k - end]
            if i < 0:
                continue
            new = new_codes[row, i] if k < end else np.int64(NO_BIN)
            if codes[row, i] == new:
                continue
            if slots[stream, i] >= 0:  # out of the old bin
                at = np.uint64(slots[stream, i])
                if not counted:
                    if cells[stream, at, COLUMN] >= 0:
                        rows[filled, 0] = stream
                        rows[filled, 1] = cells[stream, at, COLUMN]
                        rows[filled, 2] = 1
                        rows[filled, 3] = 0
                        filled += 1
                else:
                    if delta[at] == 0:
                        touched[n_touched] = np.int64(at)
                        n_touched += 1
                    delta[at] -= 1
            if new != NO_BIN:  # into the new one, as find_slot finds it
                code = new
                if salts is not None:
                    code = join(new, salts[stream, i])
                if not counted:
                    first, mask = np.uint64(table_first[stream]), np.uint64(table_mask[stream])
                    slot = slot_bits(code) & mask
                    while table_columns[first + slot] >= 0:
                        if table_codes[first + slot] == code:
                            rows[filled, 0] = stream
                            rows[filled, 1] = table_columns[first + slot]
                            rows[filled, 2] = 0
                            rows[filled, 3] = 1
                            filled += 1
                            break
                        slot = (slot + np.uint64(1)) & mask
                    continue
                at = slot_bits(code) & wrap
                found = cells[stream, at, STAMP]
                while found in (SETTLED, stamp) and cells[stream, at, CODE] != code:
                    at = (at + np.uint64(1)) & wrap
                    found = cells[stream, at, STAMP]
                if found not in (SETTLED, stamp):
                    cells[stream, at, CODE] = code
                    cells[stream, at, STAMP] = stamp
                    cells[stream, at, NUMBER] = 0
                    cells[stream, at, COLUMN] = -1
                    first, mask = np.uint64(table_first[stream]), np.uint64(table_mask[stream])
                    slot = slot_bits(code) & mask
                    while table_columns[first + slot] >= 0:
                        if table_codes[first + slot] == code:
                            cells[stream, at, COLUMN] = table_columns[first + slot]
                            break
                        slot = (slot + np.uint64(1)) & mask
                if delta[at] == 0:
                    touched[n_touched] = np.int64(at)
                    n_touched += 1
                delta[at] += 1
        for k in range(n_touched):
            at = np.uint64(touched[k])
            if delta[at] != 0:
                number = cells[stream, at, NUMBER]
                rows[filled, 0] = stream
                rows[filled, 1] = cells[stream, at, COLUMN]
                rows[filled, 2] = number
                rows[filled, 3] = number + delta[at]
                delta[at] = 0
                filled += 1
    return filled


@compiled(cache=False)
def settle_counts(coding: Any, touched_nodes: Any, ends: Any, bins: Any, table: Any) -> None:
    """Make the new codes of touched nodes those of the unedited graph, and count them."""
    cells, slots = bins.cells, bins.slots
    codes, new_codes, salts = coding.codes, coding.new_codes, coding.salts
    for stream in range(len(coding.rows)):
        row = coding.rows[stream]
        for k in range(ends[coding.iterations[row]]):
            i = touched_nodes[k]
            if slots[stream, i] >= 0:
                cells[stream, slots[stream, i], NUMBER] -= 1
            slots[stream, i] = -1
            if new_codes[row, i] != NO_BIN:
                code = stream_code(new_codes[row, i], salts, stream, i)
                slot = find_slot(cells, stream, code, SETTLED, table)
                cells[stream, slot, NUMBER] += 1
                slots[stream, i] = slot
    for row in range(len(codes)):
        for k in range(ends[coding.iterations[row]]):
            codes[row, touched_nodes[k]] = new_codes[row, touched_nodes[k]]
