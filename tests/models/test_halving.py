"""Successive halving: nothing leaks out of a fold, few machines are learned, and the choice is good."""

from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.models import halving
from propkernels.models.candidates import Candidate, Space, check_cost_grid
from propkernels.models.choosing import choose_finalist, search
from propkernels.models.folds import choosing_folds
from propkernels.models.halving import Setting, make_rung, rung_sizes, shortlist, spread_order
from propkernels.models.tasks import Classification, Regression

DATA = pk.datasets.make_molecules(150, random_state=0)
FOLDS = choosing_folds(DATA.target, 5)
KERNELS = [pk.PropagationKernel(t_max=3), pk.WeisfeilerLehman(t_max=2)]
SPACE = Space("auto", None, check_cost_grid((0.01, 0.1, 1, 10, 100, 1000)), "kernel", (0.1,))


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of shortlist alone


@pytest.fixture
def small_rungs(monkeypatch):
    """Rungs of 20, 40 and 80 graphs, as if 150 graphs were many."""
    monkeypatch.setattr(halving, "FIRST", 20)
    monkeypatch.setattr(halving, "GROWTH", 2)
    monkeypatch.setattr(halving, "ENOUGH", 40)


def choose(selection, task=None, target=DATA.target, **arguments):
    task = Classification() if task is None else task
    given = KERNELS, DATA.graphs, target, FOLDS, SPACE, task, 0
    if selection == "halving":
        return choose_finalist(shortlist(*given, **arguments), target, FOLDS, task, arguments.get("n_jobs"))
    return search(*given, selection == "exhaustive", **arguments)


def test_rungs_grow_up_to_half_of_the_graphs(small_rungs):
    assert rung_sizes(10) == [10]
    assert rung_sizes(79) == [20]
    assert rung_sizes(120) == [20, 40]
    assert rung_sizes(400) == [20, 40, 80, 160]


def test_rungs_stay_within_their_folds(small_rungs):
    order = spread_order(DATA.target, FOLDS, 0)
    for size in (20, 40):
        rung = make_rung(order, FOLDS, size)
        for (train, test), (known, held) in zip(rung.looks, FOLDS, strict=False):
            assert set(rung.graphs[train]) <= set(known)
            assert set(rung.graphs[test]) <= set(held)
            assert len(train) == size
            assert abs(np.mean(DATA.target[rung.graphs[train]]) - np.mean(DATA.target)) < 0.1
        assert sum(len(test) for _, test in rung.looks) >= 40


def test_larger_rungs_hold_the_smaller_ones(small_rungs):
    order = spread_order(DATA.target, FOLDS, 0)
    small, large = make_rung(order, FOLDS, 20), make_rung(order, FOLDS, 40)
    first = [set(rung.graphs[rung.looks[0][0]]) for rung in (small, large)]
    assert first[0] < first[1]


def test_few_settings_are_left(small_rungs):
    arms = shortlist(KERNELS, DATA.graphs, DATA.target, FOLDS, SPACE, Classification(), 0)
    assert 1 <= len(arms) <= halving.FINALISTS
    assert sum(len(arm.costs) for arm in arms) == halving.FINALISTS


@pytest.mark.parametrize("bytes_at_once", [1, 2**30])
def test_the_same_candidates_are_left_for_any_number_of_threads(small_rungs, monkeypatch, bytes_at_once):
    monkeypatch.setattr(halving, "BYTES_AT_ONCE", bytes_at_once)
    one, many = (
        shortlist(KERNELS, DATA.graphs, DATA.target, FOLDS, SPACE, Classification(), 0, n_jobs)
        for n_jobs in (1, 5)
    )
    assert [(arm.t_max, arm.normalize, arm.costs) for arm in one] == [
        (arm.t_max, arm.normalize, arm.costs) for arm in many
    ]
    for first, second in zip(one, many, strict=True):
        np.testing.assert_array_equal(first.source.matrix, second.source.matrix)


@pytest.mark.slow
def test_the_choice_is_nearly_that_of_an_exhaustive_search(small_rungs):
    exact, quick = choose("exhaustive"), choose("halving")
    assert quick.mean_loss <= exact.mean_loss + 0.05


@pytest.mark.slow
def test_few_machines_are_learned_from_all_graphs(small_rungs, monkeypatch):
    counts = {"exhaustive": 0, "halving": 0}
    fit = Candidate.fit

    for selection in counts:

        def counted(self, task, known, target, train, cost, selection=selection):
            counts[selection] += len(train) == 120
            return fit(self, task, known, target, train, cost)

        monkeypatch.setattr(Candidate, "fit", counted)
        choose(selection)
    assert counts["halving"] < counts["exhaustive"] / 5


@pytest.mark.slow
def test_threads_do_not_matter(small_rungs):
    one, two = choose("halving", n_jobs=1), choose("halving", n_jobs=2)
    assert (one.C, one.candidate.t_max) == (two.C, two.candidate.t_max)
    assert one.mean_loss == two.mean_loss


def test_weights_follow_the_graphs(small_rungs):
    """A rung learns with the weights of its own graphs: with all weight on one class, that is predicted."""
    weights = np.where(DATA.target == 1, 1.0, 1e-9)
    chosen = choose("halving", Classification(weights))
    part = chosen.candidate.predict(Classification(weights), DATA.target, *FOLDS[0], 0)
    assert part.mean() == 1.0


def test_numbers_are_chosen_too(small_rungs):
    sizes = np.diff(DATA.graphs.graph_ptr).astype(float)
    target = (sizes - sizes.mean()) / sizes.std()
    chosen = choose("halving", Regression(), target)
    assert chosen.mean_loss < 0.1


def test_the_tube_is_chosen_among_the_last(small_rungs):
    sizes = np.diff(DATA.graphs.graph_ptr).astype(float)
    target = (sizes - sizes.mean()) / sizes.std()
    space = replace(SPACE, epsilons=(0.01, 2.0))
    arms = shortlist(KERNELS, DATA.graphs, target, FOLDS, space, Regression(), 0)
    assert {arm.epsilon for arm in arms} == {0.01}  # no number is further than 2 from the mean of most


def test_without_folds_the_first_wins():
    chosen = search(KERNELS, DATA.graphs, DATA.target, (), SPACE, Classification(), 0, False)
    assert (chosen.candidate.t_max, chosen.losses) == (0, ())


def test_machines_that_converged_quickly_are_fitted_once(small_rungs, monkeypatch):
    fits = []
    original = Candidate.fit

    def counted(self, task, known, target, train, cost):
        fits.append((self.kernel.t_max, type(self.kernel), self.normalize, cost, id(train)))
        return original(self, task, known, target, train, cost)

    monkeypatch.setattr(Candidate, "fit", counted)
    found = choose("halving")
    assert found.losses
    of_folds = [fit for fit in fits if fit[-1] in {id(train) for train, _ in FOLDS}]
    assert len(set(of_folds)) == len(of_folds)


def test_spare_threads_fit_the_machine_of_all_graphs_during_the_race(small_rungs):
    alone, ahead = (choose("halving", n_jobs=n_jobs) for n_jobs in (1, 16))
    assert alone.C == ahead.C
    assert all(np.array_equal(a, b) for a, b in zip(alone.losses, ahead.losses, strict=True))
    assert (0, alone.C) not in alone.candidate.machines
    stored = ahead.candidate.machines[0, ahead.C]
    machine, _ = alone.candidate.machine_of_all(Classification(), DATA.target, alone.C)
    assert np.array_equal(machine.coefficients, stored.coefficients)


def test_a_kernel_takes_one_pass_for_all_its_iterations_if_they_fit_into_memory(monkeypatch):
    settings = [(0, 2), (1, None), (0, 5), (0, 2)]
    alive = {Setting(kernel, step, bool(k % 2), None): (0,) for k, (kernel, step) in enumerate(settings)}
    monkeypatch.setattr(halving, "BYTES_AT_ONCE", 8 * 100**2 * (halving.ROOM + 5))
    assert halving._passes(alive, 100) == [(0, (2, 5)), (1, (None,))]
    assert halving._passes(alive, 101) == [(0, (2,)), (0, (5,)), (1, (None,))]
