"""Candidates that are as good as the best: their decisions are averaged, exactly, and only then."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

import propkernels as pk
from propkernels.explain.members import FoldedMember, RatioMember
from propkernels.models.candidates import Space, check_cost_grid
from propkernels.models.choosing import choose_finalist
from propkernels.models.folds import choosing_folds
from propkernels.models.halving import shortlist
from propkernels.models.partners import with_partners
from propkernels.models.support_vectors import stopping_allowed
from propkernels.models.tasks import Classification, Regression

DATA = pk.datasets.make_molecules(90, random_state=0)
FOLDS = choosing_folds(DATA.target, 5)
KERNELS = [
    pk.PropagationKernel(t_max=2, random_state=0),
    pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
    pk.ShortestPath(),
]
SPACE = Space("auto", None, check_cost_grid((0.1, 1, 10)), "kernel", (0.1,))


def choose(kernels=KERNELS, task=None, target=DATA.target, averages=False):
    task = Classification() if task is None else task
    with stopping_allowed():
        arms = shortlist(kernels, DATA.graphs, target, FOLDS, SPACE, task, 0, of_each=averages)
        return choose_finalist(arms, target, FOLDS, task, averages=averages)


@pytest.fixture(scope="module")
def together():
    """A choice in which all kernels take part, whatever their losses are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propkernels.models.partners.CLOSE", 1e9)
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


def test_only_those_within_two_standard_errors_take_part(together):
    singles = [choose([kernel]) for kernel in KERNELS]
    best = min(singles, key=lambda selection: selection.mean_loss)
    chosen = with_partners(singles, DATA.target, FOLDS, Classification())
    assert chosen.candidate is best.candidate
    for single in singles:
        gap = np.concatenate(single.losses) - np.concatenate(best.losses)
        is_close = single is not best and gap.sum() <= 2 * np.sqrt(np.sum(gap**2))
        assert is_close == any(member is single.candidate for member, _ in chosen.partners)


def test_kernels_that_cannot_be_folded_take_part(monkeypatch):
    monkeypatch.setattr("propkernels.models.partners.CLOSE", 1e9)
    sizes = np.diff(DATA.graphs.graph_ptr).astype(float)
    target = (sizes - sizes.mean()) / sizes.std()
    ratios = [pk.PropagationKernel(t_max=1, base_kernel=name) for name in ("tanimoto", "jaccard")]
    chosen = choose([*KERNELS, *ratios], Regression(), target, averages=True)
    assert len(chosen.members) == 5


TRAIN, NEW = DATA.graphs[:70], DATA.graphs[70:]
MEMBERS = [
    pk.PropagationKernel(t_max=2, random_state=0),
    pk.WeisfeilerLehman(t_max=1, base_kernel="intersection", normalize=True),
    pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard"),
    pk.PropagationKernel(t_max=1, base_kernel="tanimoto", random_state=0),
]


def averaged(kernels):
    """A model whose decisions are the mean of those of machines with these kernels, and these machines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propkernels.models.partners.CLOSE", 1e9)
        patch.setattr("propkernels.models.model.check_kernels", lambda *_: kernels)
        model = pk.PropagationClassifier(C=1.0, normalize=None, t_max=1, selection="halving", random_state=0)
        return model.fit(TRAIN, DATA.target[:70])


@pytest.fixture(scope="module")
def mixed():
    return averaged(MEMBERS)


def own_decisions(kernel):
    """Decisions of a C-SVM with one kernel, in units of its mean diagonal, on new graphs."""
    known = kernel.fit_transform(TRAIN)
    unit = np.diagonal(known).mean()
    machine = SVC(C=1.0 / unit, kernel="precomputed").fit(known, DATA.target[:70])
    return machine.decision_function(kernel.transform(NEW))


def test_members_fold_or_keep_training_graphs(mixed):
    kinds = sorted(type(member).__name__ for member in mixed.rule_.members)
    assert kinds == ["FoldedMember", "FoldedMember", "RatioMember", "RatioMember"]
    assert all(isinstance(member, FoldedMember) for member in averaged(MEMBERS[:2]).rule_.members)
    assert all(isinstance(member, RatioMember) for member in averaged(MEMBERS[2:]).rule_.members)


def test_codes_are_computed_once_per_hash_function(mixed, monkeypatch):
    passes = []
    for vocabulary in mixed.rule_.vocabularies:
        coder = type(vocabulary.counter)
        monkeypatch.setattr(coder, "codes", _counting(coder.codes, passes))
    mixed.predict(NEW)
    assert len(passes) == len(mixed.rule_.vocabularies) < len(mixed.rule_.members)
    passes.clear()
    mixed.explain(NEW)
    assert len(passes) == len(mixed.rule_.vocabularies)


def _counting(codes, passes):
    if hasattr(codes, "counted"):
        return codes

    def counted(self, graphs, n_jobs):
        passes.append(self)
        return codes(self, graphs, n_jobs)

    counted.counted = True
    return counted


def test_decisions_are_the_mean_of_those_of_all_members(mixed):
    parts = [clone(part) for part in mixed.kernel_.kernels]
    assert len(parts) == len(MEMBERS)
    expected = np.mean([own_decisions(part) for part in parts], axis=0)
    np.testing.assert_allclose(mixed.decision_function(NEW), expected, atol=1e-3)  # libsvm's tolerance


@pytest.mark.parametrize("kernels", [MEMBERS, MEMBERS[:2], MEMBERS[2:]], ids=["both", "folded", "ratios"])
def test_contributions_add_up(kernels):
    model = averaged(kernels)
    explanation = model.explain(NEW)
    added = np.add.reduceat(explanation.contributions.sum(axis=1), NEW.graph_ptr[:-1])
    np.testing.assert_allclose(added, model.decision_function(NEW) + model.intercept_[0], atol=1e-9)


def test_mixed_members_can_do_what_folded_ones_can(mixed, tmp_path):
    bins = mixed.top_bins(TRAIN, n=5)
    assert len(bins) == 5
    assert all(one.surroundings for one in bins)
    assert not mixed.applicability(TRAIN).unseen.any()
    changes = mixed.counterfactuals(NEW[0], max_edits=1, n=1)
    assert changes.prediction[0] == mixed.predict([changes.graph(0)])[0]
    pk.save_model(mixed, tmp_path / "mixed.pkm")
    same = pk.load_model(tmp_path / "mixed.pkm")
    assert np.array_equal(same.decision_function(NEW), mixed.decision_function(NEW))
    with pytest.warns(pk.models.ForeignGraphsWarning, match="node labels that no training graph has"):
        mixed.predict([(np.ones((2, 2)) - np.eye(2), ["Xx", "Yy"])])


@pytest.mark.parametrize("size", [1, 3, 7])
def test_decisions_are_the_same_to_the_bit_in_any_batch(mixed, size):
    graphs = DATA.graphs
    parts = [mixed.decision_function(graphs[i : i + size]) for i in range(0, len(graphs), size)]
    assert np.array_equal(np.concatenate(parts), mixed.decision_function(graphs))
    chances = [mixed.predict_proba(graphs[i : i + size]) for i in range(0, len(graphs), size)]
    assert np.array_equal(np.concatenate(chances), mixed.predict_proba(graphs))


def test_similarity_to_an_averaged_model_is_the_sum_over_members(mixed):
    parts = [clone(part) for part in mixed.kernel_.kernels]
    expected = sum(part.fit(TRAIN).transform(NEW[:1])[0, 3] for part in parts)
    assert pk.similar_because(mixed, NEW[0], TRAIN[3]).value == pytest.approx(expected)
