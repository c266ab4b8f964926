"""The choice: planted candidates are found, averages are greedy, samples are stratified."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models import choose as module
from propkernels.models.choose import (
    Problem,
    Setting,
    averaged,
    check_costs,
    check_steps,
    choose,
    settings_of,
)

DATA = pk.datasets.make_molecules(80, random_state=0)
COLUMN = 2.0 * DATA.target[:, None] - 1
PROBLEM = Problem(DATA.graphs, COLUMN, DATA.target, 0)


@pytest.mark.parametrize("limits", [(300, 1500), (30, 1500), (30, 50)])
def test_the_kernel_that_tells_classes_apart_is_found(limits, monkeypatch):
    """Labels are the same in all graphs of a class; the other kernel sees one constant label."""
    monkeypatch.setattr(module, "SCREENED", limits[0])
    monkeypatch.setattr(module, "MOST_GRAPHS", limits[1])
    labels = np.repeat(DATA.target, DATA.graphs.graph_sizes)
    problem = Problem(DATA.graphs.with_labels(labels), COLUMN, DATA.target, 0)
    kernels = [pk.kernels.LabelHistogram(labels=None), pk.kernels.LabelHistogram()]
    chosen, held_out = choose(problem, kernels, settings_of(kernels, None, "auto"))
    assert chosen[0].setting.kernel == 1
    assert chosen[0].solution.held_out.shape == held_out.shape == (80, 1)
    assert problem.errors(chosen[0].solution.held_out) == problem.errors(held_out) == 0


@pytest.mark.parametrize("groups", [None, [np.arange(i, 80, 20) for i in range(20)]])
def test_held_out_decisions_are_those_of_choices_without_the_fold(groups):
    """Ridges, settings and their average are chosen anew by the other graphs alone, as by a new problem."""
    kernels = [pk.PropagationKernel(t_max=1), pk.WeisfeilerLehman(t_max=2), pk.kernels.LabelHistogram()]
    noisy = np.where(np.random.default_rng(0).random((80, 1)) < 0.2, -COLUMN, COLUMN)
    problem = Problem(DATA.graphs, noisy, DATA.target, 0, groups=groups)
    settings = settings_of(kernels, None, False)
    chosen, held_out = choose(problem, kernels, settings)
    assert sorted(np.concatenate(problem.folds).tolist()) == list(range(80))
    assert len(problem.folds) == 10
    unlike, matrices = 0, []
    for setting in settings:
        kernel = module.redrawn(kernels[setting.kernel], 0)
        kernel.set_params(**({} if setting.t_max is None else {"t_max": setting.t_max}))
        matrices.append(np.asarray(kernel.fit_transform(DATA.graphs), dtype=float))
    for fold in problem.folds:
        rest = np.setdiff1d(np.arange(80), fold)
        own = groups and [np.flatnonzero(np.isin(rest, group)) for group in groups if group[0] in rest]
        found = []
        for matrix in matrices:
            unit = matrix.diagonal().mean() / matrix[np.ix_(rest, rest)].diagonal().mean()
            ridges = [unit * ridge for ridge in module.RIDGES]
            solved = module.solve(matrix[np.ix_(rest, rest)], noisy[rest], ridges, groups=own)
            best = min(solved, key=lambda one: ((one.held_out - noisy[rest]) ** 2).mean())
            found.append((best.held_out, matrix[np.ix_(fold, rest)] @ best.coefficients + best.intercepts))
        inner = Problem(None, noisy[rest], DATA.target[rest], 0)
        places = averaged(inner, np.array([held for held, _ in found]), 3)
        expected = np.mean([found[i][1] for i in places], axis=0)
        np.testing.assert_allclose(held_out[fold], expected, atol=1e-6)
        unlike += {settings[i] for i in places} != {one.setting for one in chosen}
    assert unlike  # some folds choose otherwise


def test_candidates_join_while_the_error_of_the_mean_falls():
    truth, noise = COLUMN[:, 0], np.random.default_rng(0).normal(size=80)
    bad, opposite, one = -truth, truth - 0.5 * noise, truth + 0.4 * noise
    candidates = np.array([bad, opposite, one])[:, :, None]
    assert averaged(PROBLEM, candidates, 3) == [2, 1]
    assert averaged(PROBLEM, candidates, 1) == [2]
    assert averaged(PROBLEM, candidates[[2, 2]], 3) == [0]  # the same again does not help
    assert averaged(PROBLEM, candidates[:2], 3, without=noise > -9) == [0]  # no graph counts


def test_weights_count_in_the_error():
    weights = np.where(np.arange(80) < 40, 1.0, 0.0)
    weighted = Problem(DATA.graphs, COLUMN, DATA.target, 0, weights)
    first, second = COLUMN.copy(), COLUMN.copy()
    first[40:], second[:40] = 0, 0
    assert weighted.losses(first) == 0
    assert weighted.losses(second) == 1
    assert PROBLEM.losses(first) == PROBLEM.losses(second) == 0.5
    gaps = Problem(DATA.graphs, np.where(np.arange(80)[:, None] < 60, np.nan, COLUMN), DATA.target, 0)
    assert gaps.errors(-COLUMN) == 1.0


def test_samples_and_parts_hold_shares_of_strata():
    strata = np.array([0] * 70 + [1] * 25 + [2] * 4 + [3])
    problem = Problem(np.arange(100), np.zeros((100, 1)), strata, 0)
    places = problem.places(50)
    assert np.bincount(strata[places]).tolist()[:2] in ([35, 13], [35, 12], [36, 12])
    assert problem.at(places).seed == 0
    parts = problem.parts(5)
    assert sorted(np.concatenate(parts).tolist()) == list(range(100))
    assert all(np.bincount(strata[part])[0] == 14 for part in parts)


def test_groups_of_a_sample_are_those_of_the_whole():
    groups = [np.arange(0, 40), np.arange(40, 80)]
    some = Problem(DATA.graphs, COLUMN, DATA.target, 0, groups=groups).sample(30)
    assert sorted(np.concatenate(some.groups).tolist()) == list(range(30))
    for group, own in zip(groups, some.groups, strict=True):
        assert np.isin(some.origin[own], group).all()


def test_settings():
    kernels = [pk.WeisfeilerLehman(t_max=2), pk.ShortestPath()]
    assert len(settings_of(kernels, None, "auto")) == 3 * 2 + 2
    assert settings_of(kernels, (1,), None) == [Setting(0, 1, False), Setting(1, None, False)]
    assert check_costs([10, 1]) == (1.0, 10.0)
    assert check_steps(range(3)) == (0, 1, 2)
    assert check_steps(range(1)) == (0,)
