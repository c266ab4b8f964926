"""Candidates that are as good as the best: their decisions are averaged, exactly, and only then."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.learn.machines.decisions import FoldedRule
from propkernels.learn.machines.svm import stopping_allowed
from propkernels.learn.machines.tasks import Classification, Regression
from propkernels.learn.selection.candidates import Space, check_cost_grid
from propkernels.learn.selection.folds import choosing_folds
from propkernels.learn.selection.partners import with_partners
from propkernels.learn.selection.search import search

DATA = pk.datasets.make_molecules(90, random_state=0)
FOLDS = choosing_folds(DATA.target, 5, None, None, 0)
KERNELS = [
    pk.PropagationKernel(t_max=2, random_state=0),
    pk.WeisfeilerLehman(n_iter=2, base_kernel="intersection"),
    pk.ShortestPath(),
]
SPACE = Space("auto", None, check_cost_grid((0.1, 1, 10)), "kernel", (0.1,))


def choose(kernels=KERNELS, task=None, target=DATA.target, **options):
    task = Classification() if task is None else task
    with stopping_allowed():
        return search(kernels, DATA.graphs, target, FOLDS, SPACE, task, 0, "halving", **options)


@pytest.fixture(scope="module")
def together():
    """A choice in which all kernels take part, whatever their losses are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propkernels.learn.selection.partners.CLOSE", 1e9)
        return choose(averages=True)


def test_a_choice_has_no_partners_unless_asked():
    assert choose().partners == ()


def test_each_kernel_has_at_most_one_partner(together):
    kinds = {type(member.kernel) for member, _ in together.members}
    assert kinds == {type(kernel) for kernel in KERNELS}
    assert len(together.members) == len(KERNELS)


def test_losses_are_those_of_the_mean_decisions(together):
    for (train, held), losses in zip(FOLDS, together.losses, strict=True):
        mean = np.mean([_decide(member, C, train, held) for member, C in together.members], axis=0)
        predicted = (mean[:, 0] <= 0).astype(int)  # libsvm's pairs are positive for the first class
        assert np.array_equal(losses, predicted != DATA.target[held])


def _decide(member, cost, train, held):
    part = member.source.slice(train, held, member.scaled)
    return member.maker.fit(part.known, DATA.target[train], cost).decisions(part.unknown)


def test_only_those_within_a_standard_error_take_part(together):
    singles = [choose([kernel]) for kernel in KERNELS]
    best = min(singles, key=lambda selection: selection.mean_loss)
    chosen = with_partners(singles, DATA.target, FOLDS, Classification())
    assert chosen.candidate is best.candidate
    for single in singles:
        gap = np.concatenate(single.losses) - np.concatenate(best.losses)
        is_close = single is not best and gap.sum() <= np.sqrt(np.sum(gap**2))
        assert is_close == any(member is single.candidate for member, _ in chosen.partners)


def test_kernels_that_cannot_be_folded_take_no_part(monkeypatch):
    monkeypatch.setattr("propkernels.learn.selection.partners.CLOSE", 1e9)
    sizes = np.diff(DATA.graphs.graph_ptr).astype(float)
    target = (sizes - sizes.mean()) / sizes.std()
    ratios = [pk.PropagationKernel(t_max=1, base_kernel=name) for name in ("tanimoto", "jaccard")]
    chosen = choose([*KERNELS, *ratios], Regression(), target, averages=True)
    assert all(member.kernel.is_dot_product for member, _ in chosen.partners)
    assert choose(ratios, Regression(), target, averages=True).partners == ()


def test_a_default_model_is_the_mean_of_its_members_and_folds(monkeypatch):
    monkeypatch.setattr("propkernels.learn.selection.partners.CLOSE", 1e9)
    graphs, y = DATA.graphs, DATA.target
    model = pk.PropagationClassifier(C=[1, 10], t_max=[0, 1], random_state=0).fit(graphs[:70], y[:70])
    assert isinstance(model.rule_, FoldedRule)
    assert isinstance(model.kernel_, pk.SumKernel)
    explanation = model.explain(graphs[70:])
    added = np.add.reduceat(explanation.contributions.sum(axis=1), graphs[70:].graph_ptr[:-1])
    np.testing.assert_allclose(added, model.decision_function(graphs[70:]) + model.intercept_[0], atol=1e-9)
    assert np.mean(model.predict(graphs[70:]) == y[70:]) > 0.6
