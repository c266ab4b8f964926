"""The table of bins against dictionaries."""

from collections import Counter

import numpy as np
import pytest

from propkernels.codes import codes_compiled
from propkernels.codes.codes import NO_BIN
from propkernels.counts.entries_compiled import BinTable
from propkernels.tracking import bins_compiled
from propkernels.tracking.bins_compiled import CODE, COLUMN, NUMBER, SETTLED, STAMP, Coding
from propkernels.tracking.trackers import _bins

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("as_python")]
KNOWN = [np.array([3, 5, 8], dtype=np.int64), np.array([5], dtype=np.int64)]


def test_slots_of_codes():
    bins, table = _bins(2, 0, 8, 8), BinTable.of(KNOWN)
    seen = {}
    for code in [3, 7, 8, 7, 3, -1, 2**62]:
        slot = bins_compiled.find_slot(bins.cells, 0, np.int64(code), SETTLED, table)
        assert seen.setdefault(code, slot) == slot
        assert bins.cells[0, slot, CODE] == code
    assert len(set(seen.values())) == len(seen)
    columns = {code: int(bins.cells[0, slot, COLUMN]) for code, slot in seen.items()}
    assert columns == {3: 0, 7: -1, 8: 2, -1: -1, 2**62: -1}
    slot = bins_compiled.find_slot(bins.cells, 1, np.int64(5), SETTLED, table)
    assert bins.cells[1, slot, COLUMN] == 3  # columns are numbered through all streams


def test_cells_of_earlier_edits_count_as_empty():
    bins, table = _bins(1, 0, 4, 8), BinTable.of(KNOWN[:1])
    for stamp in range(1, 40):  # more codes than cells
        slot = bins_compiled.find_slot(bins.cells, 0, np.int64(100 + stamp), stamp, table)
        assert bins.cells[0, slot, STAMP] == stamp
        assert bins.cells[0, slot, NUMBER] == 0


def test_changes_are_differences_that_are_not_zero():
    bins, table, rng = _bins(1, 0, 32, 64), BinTable.of(KNOWN[:1]), np.random.default_rng(0)
    settled = {
        code: bins_compiled.find_slot(bins.cells, 0, np.int64(code), SETTLED, table) for code in range(9)
    }
    for code, slot in settled.items():
        bins.cells[0, slot, NUMBER] = 10 + code
    rows, total, n_touched = np.zeros((64, 4), dtype=np.int32), Counter(), 0
    for code, by in zip(rng.integers(9, size=30), rng.choice([-1, 1], size=30), strict=True):
        total[int(code)] += int(by)
        n_touched = bins_compiled.add_delta(bins.delta, bins.touched, n_touched, settled[int(code)], by)
    end = bins_compiled.list_changes(bins.cells, 0, bins.delta, bins.touched, n_touched, rows, 2)
    found = sorted((int(after - before), int(before)) for _, _, before, after in rows[2:end])
    assert found == sorted((by, 10 + code) for code, by in total.items() if by)
    assert not bins.delta.any()


def coding(codes, salts=None):
    """One stream, all nodes of depth 0."""
    codes = np.array([codes], dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    return Coding(zero, zero, salts, np.full_like(codes, NO_BIN), codes)


@pytest.mark.parametrize("salts", [None, np.array([[4, 4, 9, 9]])])
def test_settled_nodes_are_counted(salts):
    start = coding([3, 3, NO_BIN, 8], salts)
    bins, table = _bins(1, 4, 16, 16), BinTable.of(KNOWN[:1])
    bins_compiled.settle_counts(start, np.arange(4), np.array([4]), bins, table)
    np.testing.assert_array_equal(start.codes, start.new_codes)
    numbers = Counter()
    for cell in bins.cells[0][bins.cells[0, :, STAMP] == SETTLED]:
        numbers[int(cell[CODE])] = int(cell[NUMBER])
    salted = (
        [3, 3, 8]
        if salts is None
        else [codes_compiled.join(code, salt) for code, salt in ((3, 4), (3, 4), (8, 9))]
    )
    assert numbers == Counter(int(code) for code in salted)
    assert bins.slots[0, 2] == -1


@pytest.mark.parametrize("counted", [True, False])
def test_moved_and_removed_nodes_change_counts(counted):
    start = coding([3, 3, 5, 7])
    bins, table = _bins(1, 4, 16, 16), BinTable.of(KNOWN[:1])
    bins_compiled.settle_counts(start, np.arange(4), np.array([4]), bins, table)
    start.new_codes[0] = [8, 3, 7, 7]
    bins.stamp[0] = 1
    rows, removed = np.zeros((16, 4), dtype=np.int32), np.array([1, -1])
    end = bins_compiled.change_counts(
        start, None, np.array([0, 2]), np.array([2]), removed, bins, table, counted, rows, 0
    )
    found = Counter()
    for _, column, before, after in rows[:end].tolist():
        found[column] += after - before
    # 3 loses nodes 0 and 1, 5 loses node 2, 8 gains node 0; 7 is not in the vocabulary
    known = {0: -2, 1: -1, 2: 1}
    assert found == (known | {-1: 1} if counted else known)
    if counted:
        assert sorted(rows[:end, 1:].tolist()) == [[-1, 1, 2], [0, 2, 0], [1, 1, 0], [2, 0, 1]]
