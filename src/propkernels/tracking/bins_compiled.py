"""Compiled loops over the bins of one graph: nodes move from bin to bin, and changes of counts are listed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels.counting.entries_compiled import find_column, mixed
from propkernels.hashing.codes import NO_BIN
from propkernels.hashing.codes_compiled import join

CODE, STAMP, COLUMN, NUMBER = range(4)  # of a cell
EMPTY, SETTLED = 0, -1  # stamps; edits have the stamps 1, 2, ...


class Bins(NamedTuple):
    """Bins of the graph as it is, found by open addressing, with room for those of an edit.

    ``cells[stream, slot]`` holds a code, a stamp, the column of the code in the vocabulary (-1: none) and its
    number of items in the graph as it is. A cell is in use if it is SETTLED or has the stamp of the present
    edit, ``stamp[0]``: those of earlier edits count as empty, and nothing has to be cleared. ``slots[stream,
    node]`` is the slot that a node is counted in (-1: none).

    ``delta[slot]`` is by how many items an edit changes the count, for one stream at a time; ``touched``
    lists the slots whose delta was changed, some perhaps twice. ``delta`` is 0 between streams.
    """

    cells: Any
    slots: Any
    stamp: Any
    delta: Any
    touched: Any


@compiled(cache=False)
def find_slot(cells: Any, stream: int, code: Any, stamp: int, table: Any) -> Any:
    """Slot of a code in a stream; a code that is not there takes an empty cell, with the stamp."""
    wrap = np.uint64(cells.shape[1] - 1)
    slot = mixed(code) & wrap
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
    """Change a delta, and list its slot if it was 0; return how many are listed."""
    if delta[slot] == 0:
        touched[n_touched] = slot
        n_touched += 1
    delta[slot] += by
    return n_touched


@compiled(cache=False)
def list_changes(
    cells: Any, stream: int, delta: Any, touched: Any, n_touched: int, rows: Any, filled: int
) -> Any:
    """Append a row for each bin of a stream whose count differs, and clear the deltas; return the new end."""
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
    """How streams follow from codes of nodes: stream s joins row ``rows[s]`` of the codes with ``salts[s]``.

    ``iterations[row]`` is the iteration of a row of codes. ``codes[row, node]`` are those of the graph as it
    is, and ``new_codes`` those of touched nodes in the edited graph. ``salts[stream, node]``, the codes of
    attributes, are None where there are none.
    """

    rows: Any
    iterations: Any
    salts: Any
    codes: Any
    new_codes: Any


@compiled(cache=False)
def stream_code(code: Any, salts: Any, stream: int, node: int) -> Any:
    """Code of a node in a stream: its code, joined with that of its attributes."""
    if salts is None or code == NO_BIN:
        return code
    return join(code, salts[stream, node])


# The loop over moves has no helpers that take arrays: numba counts references to an array in every function
# that it is handed to, and that takes longer than a move.


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
    """Move touched nodes to their new bins and removed ones out of theirs; list what that changes.

    Nodes ``touched_nodes[: ends[t]]`` may have other codes at iteration t; ``salts`` are those of ``coding``.
    Without ``counted``, each move out of or into a bin of the vocabulary is a row. Return the end of rows.
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
                    slot = mixed(code) & mask
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
                at = mixed(code) & wrap
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
                    slot = mixed(code) & mask
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
    """Keep the new codes of touched nodes as those of the graph as it is, and count them."""
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
