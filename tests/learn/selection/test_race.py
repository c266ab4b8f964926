"""Choosing with few machines: exact where it says so, and never by chance of threads."""

from dataclasses import dataclass

import numpy as np
import pytest

from propkernels.learn.selection.race import Race, Trial

N_FOLDS, N_GRAPHS = 5, 60


@dataclass(frozen=True)
class Coin:
    """An arm whose machines err with known probabilities."""

    number: int
    costs: tuple[float, ...]
    errors: tuple[float, ...]


def toss(arm, fold, position, seed):
    rng = np.random.default_rng([seed, arm.number, fold, position])
    return (rng.random(N_GRAPHS) < arm.errors[position]).astype(float)


class Trials:
    """Counts the machines that were learned."""

    def __init__(self, seed, final_from=99):
        self.seed, self.final_from, self.calls = seed, final_from, []

    def __call__(self, arm, fold, positions):
        for position in positions:
            self.calls.append((arm.number, fold, position))
            losses = toss(arm, fold, min(position, self.final_from), self.seed)
            yield Trial(losses, position >= self.final_from, True)


def make_arms(seed, n_arms=7, n_costs=4):
    rng = np.random.default_rng(seed)
    return [Coin(i, tuple(range(n_costs)), tuple(rng.uniform(0.1, 0.5, n_costs))) for i in range(n_arms)]


def naive(arms, seed, final_from=99):
    """Every candidate on every fold; the first of the best."""
    totals = {
        (arm.number, position): sum(
            toss(arm, f, min(position, final_from), seed).sum() for f in range(N_FOLDS)
        )
        for arm in arms
        for position in range(len(arm.costs))
    }
    return min(totals, key=lambda key: (totals[key], key)), min(totals.values())


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("final_from", [99, 1])
def test_exhaustive_selection_equals_a_look_at_everything(seed, final_from):
    arms, trials = make_arms(seed), Trials(seed, final_from)
    winner = Race(arms, N_FOLDS, trials, is_exact=True).run()
    assert ((winner.arm, winner.cost), winner.total) == naive(arms, seed, final_from)
    assert len(set(trials.calls)) == len(trials.calls)


def test_exhaustive_selection_saves_what_cannot_win():
    trials = Trials(0)
    arms = [Coin(i, (1.0,), (0.05 if i == 0 else 0.5,)) for i in range(10)]
    assert Race(arms, N_FOLDS, trials, is_exact=True).run().arm == 0
    assert len(trials.calls) == 10 + N_FOLDS - 1  # all on the first fold, then one is out of reach


def test_a_race_learns_fewer_machines_and_finds_a_good_one():
    saved, lost = [], []
    for seed in range(20):
        arms, exact, quick = make_arms(seed), Trials(seed), Trials(seed)
        best = Race(arms, N_FOLDS, exact, is_exact=True).run()
        found = Race(arms, N_FOLDS, quick, is_exact=False).run()
        saved.append(1 - len(quick.calls) / len(exact.calls))
        lost.append((found.total - best.total) / (N_FOLDS * N_GRAPHS))
    assert np.mean(saved) > 0.15
    assert np.mean(lost) < 0.01


def test_larger_costs_are_left_where_they_cannot_catch_up():
    bad = Coin(0, tuple(range(6)), (0.5, 0.48, 0.48, 0.48, 0.48, 0.48))
    good = [Coin(i, tuple(range(6)), (0.5, 0.3, 0.1, 0.05, 0.05, 0.05)) for i in range(1, 5)]
    trials = Trials(0)
    Race([bad, *good], N_FOLDS, trials, is_exact=False).run()
    assert (0, 0, 2) in trials.calls or (0, 0, 1) in trials.calls
    assert not any(call[0] == 0 and call[2] > 3 for call in trials.calls)


def test_a_small_cost_is_no_reason_to_stop():
    """Below a certain C all machines are alike, and say nothing about larger values."""

    def unsettled(arm, fold, positions):
        for position in positions:
            yield Trial(toss(arm, fold, position, 0), False, position >= 4)

    late = Coin(0, tuple(range(6)), (0.5, 0.5, 0.5, 0.5, 0.1, 0.05))
    early = [Coin(i, tuple(range(6)), (0.3, 0.2, 0.2, 0.2, 0.2, 0.2)) for i in range(1, 5)]
    winner = Race([late, *early], N_FOLDS, unsettled, is_exact=False).run()
    assert (winner.arm, winner.cost) == (0, 5)


def test_a_cost_that_binds_hardly_anything_is_the_last():
    calls = []

    def nearly(arm, fold, positions):
        for position in positions:
            calls.append(position)
            yield Trial(toss(arm, fold, position, 0), False, True, position >= 2)

    arms = [Coin(i, tuple(range(6)), (0.2,) * 6) for i in range(3)]
    Race(arms, N_FOLDS, nearly, is_exact=False).run()
    assert max(calls) == 2
    Race(arms, N_FOLDS, nearly, is_exact=True).run()
    assert max(calls) == 5


@pytest.mark.parametrize("is_exact", [True, False])
def test_threads_do_not_matter(is_exact):
    for seed in range(5):
        arms = make_arms(seed, 11)
        one = Race(arms, N_FOLDS, Trials(seed), is_exact, n_jobs=1)
        two = Race(arms, N_FOLDS, Trials(seed), is_exact, n_jobs=2)
        first, second = one.run(), two.run()
        assert (first.arm, first.cost) == (second.arm, second.cost)
        assert {k: len(v) for k, v in one.known.items()} == {k: len(v) for k, v in two.known.items()}


def test_an_incumbent_stays_unless_it_is_beaten():
    arms = make_arms(3)
    (arm, cost), total = naive(arms, 3)
    same = tuple(toss(arms[arm], fold, cost, 3) for fold in range(N_FOLDS))
    assert Race(arms, N_FOLDS, Trials(3), True, incumbent=same).run() is None
    worse = tuple(np.ones(N_GRAPHS) for _ in range(N_FOLDS))
    assert Race(arms, N_FOLDS, Trials(3), True, incumbent=worse).run().total == total


def test_progress_adds_up():
    told = []
    Race(make_arms(0), N_FOLDS, Trials(0), True, tell=told.append).run()
    assert sum(told) == 7 * N_FOLDS


def test_a_machine_that_is_final_in_one_fold_only():
    """Fold 2 takes the smallest C for all; elsewhere the largest is best, and wins with one loss per fold."""

    def trials(arm, fold, positions):
        for position in positions:
            final = fold == 2
            errors = 3 if final else 5 - position
            yield Trial((np.arange(N_GRAPHS) < errors).astype(float), final, True)

    winner = Race([Coin(0, (1.0, 2.0, 3.0), ())], N_FOLDS, trials, is_exact=True).run()
    assert (winner.arm, winner.cost) == (0, 2)
    assert len(winner.losses) == N_FOLDS
    assert winner.total == 4 * 3 + 3
