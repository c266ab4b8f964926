"""Choosing with few machines: exact where it says so, and never by chance of threads."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel
from sklearn.svm import LinearSVC

import propkernels as pk
from propkernels.explain.members import FoldedMember
from propkernels.kernels import GraphHopper
from propkernels.models import choosing as search
from propkernels.models.candidates import resolve_selection
from propkernels.models.choosing import Race, Trial, resolve_solver
from propkernels.models.linear_machines import LinearClassification, LinearRegression

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


@pytest.mark.slow
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


def test_a_small_cost_is_not_a_reason_to_stop():
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


def test_machines_that_do_not_come_to_their_end_are_left():
    """Their C is too large, unless it is the smallest; an exhaustive choice judges them like any other."""
    arms = [Coin(0, tuple(range(4)), (0.3, 0.3, 0.0, 0.0))]

    def trials(arm, fold, positions, slow_from=2):
        for position in positions:
            yield Trial(toss(arm, fold, position, 0), False, True, False, position < slow_from)

    assert Race(arms, N_FOLDS, trials, is_exact=False).run().cost < 2
    assert Race(arms, N_FOLDS, trials, is_exact=True).run().cost == 2
    slow = lambda arm, fold, positions: trials(arm, fold, positions, 0)
    assert Race(arms, N_FOLDS, slow, is_exact=False).run().cost == 0


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("n_jobs", [2, 16])
@pytest.mark.parametrize("final_from", [99, 2])
def test_threads_do_not_matter(is_exact, n_jobs, final_from):
    for seed in range(5):
        arms = make_arms(seed, 11)
        one = Race(arms, N_FOLDS, Trials(seed, final_from), is_exact, n_jobs=1)
        many = Race(arms, N_FOLDS, Trials(seed, final_from), is_exact, n_jobs=n_jobs)
        first, second = one.run(), many.run()
        assert (first.arm, first.cost) == (second.arm, second.cost)
        assert one.known.keys() == many.known.keys()
        for key, parts in one.known.items():
            np.testing.assert_array_equal(parts, many.known[key])


def test_folds_ahead_are_replaced_where_a_smaller_cost_was_final():
    """Fold 3 is final from position 0 on; after fold 1, only position 1 may win and is evaluated itself."""

    def trials(arm, fold, positions):
        for position in positions:
            losses = np.full(N_GRAPHS, 0.1 if position else 1.0) + 0.01 * fold
            yield Trial(losses, fold == 3 and position == 0, True)

    arms = [Coin(0, (1.0, 2.0), ()), Coin(1, (1.0, 2.0), ())]
    runs = [Race(arms, N_FOLDS, trials, False, n_jobs=n_jobs) for n_jobs in (1, 8)]
    winners = [race.run() for race in runs]
    assert winners[0].total == winners[1].total
    np.testing.assert_array_equal(winners[0].losses, winners[1].losses)


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


FIXED = {"t_max": 2, "C": 10, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(80, random_state=0)


@pytest.fixture(scope="module")
def classes(data):
    return data.target + (np.arange(80) % 2) * data.target


def explicit(model, graphs):
    """Features of the model's kernel over all graphs' bins, in the unit of C: the first 60 are known."""
    parameters = {"t_max": model.t_max_, "normalize": model.normalize_}
    features = pk.PropagationFeatures(random_state=model.kernel_.random_state, **parameters)
    phi = features.fit_transform(graphs).toarray()
    phi /= np.sqrt((phi[:60] ** 2).sum(axis=1).mean())
    return phi[:60], phi[60:]


@pytest.mark.slow
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("several", [True, False])
def test_linear_decisions_are_those_of_liblinear(data, classes, normalize, several):
    y = classes if several else data.target
    model = pk.PropagationClassifier(
        kernel=pk.PropagationKernel(), normalize=normalize, solver="linear", **FIXED
    ).fit(data.graphs[:60], y[:60])
    known, new = explicit(model, data.graphs)
    machine = LinearSVC(loss="squared_hinge", dual=False, C=10, max_iter=10_000).fit(known, y[:60])
    expected = machine.decision_function(new)
    assert all(isinstance(member, FoldedMember) for member in model.rule_.members)
    np.testing.assert_allclose(model.decision_function(data.graphs[60:]), expected, atol=1e-6)
    pair = (1, 0)
    sums = model.explain(data.graphs[60:], pair).decisions
    columns = expected[:, None] if expected.ndim == 1 else expected[:, [1]] - expected[:, [0]]
    np.testing.assert_allclose(sums, columns[:, 0], atol=1e-6)


@pytest.mark.parametrize("several", [True, False])
def test_the_gaussian_process_is_scikit_learns(data, classes, several):
    y = classes if several else data.target
    model = pk.PropagationClassifier(
        kernel=pk.PropagationKernel(), normalize=False, solver="gp", **FIXED
    ).fit(data.graphs[:60], y[:60])
    known, new = explicit(model, data.graphs)
    process = GaussianProcessClassifier(ConstantKernel(10.0) * DotProduct(1.0), optimizer=None)
    process.fit(known, y[:60])
    np.testing.assert_allclose(model.predict_proba(data.graphs[60:]), process.predict_proba(new), atol=1e-3)
    assert np.mean(model.predict(data.graphs[60:]) == process.predict(new)) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [pk.PropagationKernel(), pk.PropagationKernel(base_kernel="jaccard")])
def test_gaussian_regression_is_scikit_learns(data, kernel):
    y = np.diff(data.graphs.graph_ptr).astype(float)
    model = pk.PropagationRegressor(kernel=kernel, solver="gp", normalize=False, **FIXED)
    model.fit(data.graphs[:60], y[:60])
    gram = model.kernel_.fit_transform(data.graphs)
    unit, mean, spread = gram.diagonal()[:60].mean(), y[:60].mean(), y[:60].std()
    values, vectors = np.linalg.eigh(gram / unit)
    points = vectors * np.sqrt(np.maximum(values, 0))
    amplitude = model.posterior_.amplitude / spread**2
    process = GaussianProcessRegressor(
        ConstantKernel(amplitude) * (DotProduct(1.0) + WhiteKernel(0.1)), alpha=1e-12, optimizer=None
    ).fit(points[:60], (y[:60] - mean) / spread)
    expected, error = process.predict(points[60:], return_std=True)
    computed, std = model.fit(data.graphs[:60], y[:60]).predict(data.graphs[60:], return_std=True)
    if kernel.base_kernel == "linear":  # counts of new graphs lie in the span of all graphs
        np.testing.assert_allclose(computed, spread * expected + mean, rtol=1e-5)
        np.testing.assert_allclose(std, spread * error, rtol=1e-4)
    assert np.isfinite(std).all()


def test_pairwise_kernels_have_uncertainty_too(data):
    y = np.diff(data.graphs.graph_ptr).astype(float)
    model = pk.PropagationRegressor(kernel=pk.ShortestPath(), solver="gp", C=10, random_state=0)
    _, std = model.fit(data.graphs[:60], y[:60]).predict(data.graphs[60:], return_std=True)
    assert (std > 0).all()


def test_auto_takes_the_solver_by_size():
    kernels = [pk.PropagationKernel(t_max=10)]
    assert resolve_solver("auto", kernels, 5000, None) == "kernel"
    assert resolve_solver("auto", kernels, 12_000, None) == "linear"  # eleven matrices would take 12 GiB
    assert resolve_solver("auto", kernels, 12_000, (3,)) == "kernel"
    assert resolve_solver("auto", kernels, 20_001, (3,)) == "linear"
    assert resolve_solver("auto", [GraphHopper()], 12_000, None) == "kernel"
    assert resolve_solver("auto", [pk.WeisfeilerLehman(base_kernel="jaccard")], 20_001, None) == "landmarks"


@pytest.mark.slow
def test_beyond_the_limit_no_kernel_matrix_is_formed(data, monkeypatch):
    monkeypatch.setattr(search, "MOST_FOR_KERNEL", 50)

    def refuse(*arguments):
        raise AssertionError("a kernel matrix was formed")

    monkeypatch.setattr(pk.PropagationKernel, "fit_transform", refuse)
    monkeypatch.setattr(pk.PropagationKernel, "fit_transform_cumulative", refuse)
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=2), C=[1, 10], random_state=0).fit(
        data.graphs, data.target
    )
    assert model.solver_ == "linear"
    assert model.score(data.graphs, data.target) > 0.8
    for solver in ("kernel", "gp"):
        with pytest.raises(ValueError, match="forms a matrix of 80 x 80; beyond 50 graphs"):
            pk.PropagationClassifier(solver=solver).fit(data.graphs, data.target)
    ratio = pk.PropagationKernel(t_max=2, base_kernel="jaccard")
    model = pk.PropagationClassifier(kernel=ratio, random_state=0).fit(data.graphs, data.target)
    assert model.solver_ == "landmarks"


@pytest.mark.parametrize(
    "kernel", [pk.ShortestPath(attributes="linear"), pk.PropagationKernel(base_kernel="rbf")]
)
def test_linear_needs_counts(data, kernel):
    with pytest.raises(TypeError, match='solver="linear" needs kernels that are dot products of counts'):
        pk.PropagationClassifier(kernel=kernel, solver="linear").fit(data.graphs, data.target)


def test_very_many_graphs_are_learned_by_stochastic_gradients(monkeypatch):
    from propkernels.models import linear_machines

    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 5))
    target = (features[:, 0] > 0).astype(int)
    exact = LinearClassification().fit(features, target, 1.0)
    monkeypatch.setattr(linear_machines, "STOCHASTIC_FROM", 100)
    quick = LinearClassification().fit(features, target, 1.0)
    assert np.mean((quick.decisions(features) > 0) == (exact.decisions(features) > 0)) > 0.95
    line = LinearRegression(0.0).fit(features, features[:, 0], 1.0)
    assert np.corrcoef(line.decisions(features)[:, 0], features[:, 0])[0, 1] > 0.99


def test_auto_selection_is_exact_for_few_graphs_and_kernels():
    assert resolve_selection("auto", 1000) == "exhaustive"
    assert resolve_selection("auto", 1001) == "halving"
    assert resolve_selection("auto", 100, n_kernels=3) == "halving"
    assert resolve_selection("exhaustive", 10**6) == "exhaustive"
    assert resolve_selection("race", 10) == "race"
