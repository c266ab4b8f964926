"""Counter-based randomness and the keys of labels."""

import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from propkernels._utils import randomness
from propkernels._utils.randomness import cauchy, draw_seed, gaussian, label_keys, mix, uniform


class Colour(enum.IntEnum):
    RED = 1


class Plain:
    """An object whose description is its address."""


# These numbers are part of the interface: a change gives every user other codes for the same random_state.
PINNED = {
    0: 0x749538A5B752D018,
    -7: 0xF5B42B5F7D9258A4,
    2**70: 0x55B7CD3DB8406368,
    0.5: 0xBA26FC20E7C792A6,
    "C": 0xB97A9D9313B68F7B,
    "Né": 0xCB0D856CFB4B4644,
    b"C": 0xA579C4CB02D05A74,
    ("C", 1): 0xBA8B8D495D5EC30A,
    frozenset({"a", "b"}): 0xAD5DBC86DF32FE4F,
}


def test_keys_of_labels_are_pinned():
    assert dict(zip(PINNED, label_keys(PINNED).tolist(), strict=True)) == PINNED


def test_random_numbers_are_pinned():
    assert [hex(word) for word in mix(5, 0, 1, np.arange(3))] == [
        "0x40268385d4fcf1a3",
        "0xf541939d51746fcd",
        "0x22474635a507a620",
    ]
    assert uniform(1, 2).item() == pytest.approx(0.737699252690117, abs=1e-15)


def test_keys_tell_types_apart():
    labels = [1, "1", b"1", (1,), ("1",), frozenset({1}), 1.5, "1.5", None, "", (), b"", frozenset(), ((),)]
    labels += [1j, 2j, 1 + 2j]
    assert len(np.unique(label_keys(labels))) == len(labels)


ONE = [1, 1.0, True, np.int64(1), np.float32(1), Decimal(1), Decimal("1.0"), Fraction(1), 1 + 0j, Colour.RED]
HALF, INFINITE = [0.5, np.float64(0.5), Fraction(1, 2), Decimal("0.50")], [np.inf, Decimal("Infinity")]
PAIRS, SETS = [(1, "a"), (1.0, np.str_("a"))], [frozenset({1, 2}), frozenset({np.int64(2), 1.0})]


@pytest.mark.parametrize("equal", [ONE, HALF, INFINITE, PAIRS, SETS, [0, -0.0, False], ["a", np.str_("a")]])
def test_equal_labels_have_equal_keys_whatever_their_types(equal):
    assert len(set(equal)) == 1
    assert len(np.unique(label_keys(equal))) == 1


@pytest.mark.parametrize("thing", [Plain(), lambda: 0, (1, Plain()), frozenset({Plain()}), Plain().__repr__])
def test_objects_without_a_lasting_description_are_refused(thing):
    with pytest.raises(TypeError, match="no stable description"):
        label_keys([thing])


# seeds


def test_a_random_state_is_advanced():
    state, again = np.random.RandomState(0), np.random.RandomState(0)
    seeds = [draw_seed(state), draw_seed(state)]
    assert seeds[0] != seeds[1]
    assert seeds == [draw_seed(again), draw_seed(again)]
    assert all(0 <= seed < 2**62 for seed in seeds)


@pytest.mark.parametrize("bad", [-1, 2**40, 2**70, "seed", 1.5])
def test_bad_random_states_are_refused(bad):
    with pytest.raises(ValueError):
        draw_seed(bad)


# numbers


def test_uniform_numbers_are_uniform_whichever_word_varies():
    run = np.arange(40_000)
    of_labels = (3, label_keys(range(20_000)))
    for words in ((run, 0, 1), (0, run, 1), (0, 1, run), (run << 32, 5), (run * 2**20, run), of_labels):
        numbers = uniform(*words).ravel()
        assert stats.kstest(numbers, "uniform").pvalue > 1e-4
        neighbours = np.corrcoef(numbers[:-1], numbers[1:])[0, 1]
        assert abs(neighbours) < 5 / np.sqrt(len(numbers))


def test_one_changed_bit_changes_half_of_the_bits():
    words = np.arange(2_000)
    for bit in (0, 7, 31, 62):
        changed = mix(9, words) ^ mix(9, words ^ (1 << bit))
        assert 31 < np.bitwise_count(changed).mean() < 33


def test_uniform_numbers_stay_inside_the_open_interval(monkeypatch):
    for word in (0, 2**64 - 1):
        monkeypatch.setattr(randomness, "mix", lambda *_, word=word: np.array([word], dtype=np.uint64))
        assert 0 < uniform(1)[0] < 1
        assert np.isfinite([cauchy(1)[0], gaussian(1)[0]]).all()


def test_cauchy_and_gaussian_numbers_follow_their_laws():
    run = np.arange(50_000)
    assert stats.kstest(cauchy(1, run), "cauchy").pvalue > 1e-4
    assert stats.kstest(gaussian(1, run), "norm").pvalue > 1e-4


def test_large_and_negative_words_wrap_around():
    assert mix(-1) == mix(2**64 - 1)
    assert mix(2**64) == mix(0)
    assert mix(np.int64(-1)) == mix(-1)
