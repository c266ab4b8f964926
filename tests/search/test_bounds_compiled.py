"""Common levels by compiled loops, against sets."""

import numpy as np
import pytest

from propkernels.search.bounds_compiled import count_common, count_values, look_up, mark_possible, skip_graphs

pytestmark = pytest.mark.compiled

RNG = np.random.default_rng(0)
LISTS = [np.flatnonzero(RNG.random(50) < share) for share in (0.02, 0.1, 0.3, 0.5)]
ROWS = (RNG.random((2, 50)) < 0.6).astype(np.uint8)
WORDS = np.concatenate([(own << 8) | 1 for own in LISTS]).astype(np.uint32)
ENDS = np.cumsum([0, *map(len, LISTS)])
COMMON = np.sum([np.isin(np.arange(50), own) for own in LISTS], axis=0)


def test_common_levels_of_all_graphs():
    common = np.zeros(50, dtype=np.uint16)
    count_common(ENDS[:-1], ENDS[1:], WORDS, 0, common)
    np.testing.assert_array_equal(common, COMMON)


@pytest.mark.parametrize("start", [0, 1, 17, 49, 50])
def test_common_levels_of_later_graphs(start):
    first, common = ENDS[:-1].copy(), np.zeros(50 - start, dtype=np.uint16)
    skip_graphs(first, ENDS[1:], WORDS, start)
    count_common(first, ENDS[1:], WORDS, start, common)
    np.testing.assert_array_equal(common, COMMON[start:])


def test_values_beyond_the_end_count_as_the_last():
    numbers = np.zeros(3, dtype=np.int64)
    count_values(np.array([0, 1, 1, 9], dtype=np.uint16), numbers)
    assert numbers.tolist() == [1, 2, 1]


@pytest.mark.parametrize("least", [-1.0, 0.3, 0.6])
@pytest.mark.parametrize("is_ratio", [True, False])
def test_looked_up_graphs(least, is_ratio):
    places = np.arange(0, 50, 3)
    lengths = RNG.integers(6, 10, len(places)).astype(float)
    total = COMMON + ROWS.sum(axis=0)
    expected = total[places]
    below = 6 + lengths - expected if is_ratio else np.sqrt(6 * lengths)
    stays = expected / below >= least
    first, last = np.append(ENDS[:-1], [0, 0]), np.append(ENDS[1:], [0, 0])
    levels = (first, last, np.array([-1, -1, -1, -1, 0, 1]), WORDS, ROWS)
    found, common = places.copy(), np.zeros(len(places), dtype=np.int64)
    n = look_up(found, common, lengths.copy(), *levels, 6.0, least * (1 - 1e-9), is_ratio)
    np.testing.assert_array_equal(found[:n], places[stays])
    np.testing.assert_array_equal(common[:n], expected[stays])


@pytest.mark.parametrize("is_ratio", [True, False])
def test_marked_graphs_are_those_whose_bound_allows_it(is_ratio):
    squares = RNG.integers(1, 12, 50) * 0.5
    marks = np.empty(50, dtype=bool)
    mark_possible(COMMON.astype(np.uint16), squares, marks, 2, 6.0, 0.5, 0.4, is_ratio)
    most, lengths = COMMON + 2.0, squares / 0.5
    bound = (1 + 0.4) * most >= 0.4 * (6 + lengths) if is_ratio else most >= 0.4 * np.sqrt(6 * lengths)
    np.testing.assert_array_equal(marks, bound)
    mark_possible(COMMON.astype(np.uint16), squares, marks, 2, 6.0, 0.5, -1.0, is_ratio)
    assert marks.all()
