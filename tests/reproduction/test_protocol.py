import numpy as np
import pytest

import propkernels as pk
from propkernels.learn import evaluate
from propkernels.learn.selection.kernels_by_t import compute_stack, redrawn
from reproduction.protocols.nested import SEED, cross_validate, leave_one_out, seeds_of, unit


@pytest.mark.slow
def test_it_is_the_protocol_of_evaluate():
    """Folds, choices and accuracies are those of the public function."""
    data = pk.datasets.make_molecules(60, random_state=0)
    kernel = pk.PropagationKernel(t_max=2)
    reference = evaluate(kernel, data, C=[1, 10], random_state=SEED, repeats=2)
    target = np.unique(data.target, return_inverse=True)[1]
    for repeat in range(2):
        stack = compute_stack(redrawn(kernel, seeds_of(repeat).kernel), data.graphs, None)
        computed = cross_validate({str(t): k for t, k in stack.items()}, target, repeat, [1.0, 10.0])
        assert computed["folds"] == pytest.approx((100 * reference.scores[repeat]).tolist(), abs=1e-4)
        assert computed["accuracy"] == pytest.approx(100 * reference.scores[repeat].mean(), abs=1e-4)


def test_threads_change_nothing():
    target = np.repeat([0, 1], 20)
    kernel = np.random.default_rng(0).normal(size=(40, 40))
    candidates = {"a": kernel @ kernel.T, "b": np.eye(40)}
    one, two = (cross_validate(candidates, target, 0, [1.0, 10.0], n_jobs) for n_jobs in (1, 2))
    assert one == two


def naive_leave_one_out(candidates, target):
    """Nearest neighbours by sorting, candidates by exhaustive counting."""

    def guess(kernel, graph, known):
        return target[max(known, key=lambda other: (kernel[graph, other], -other))]

    hits = []
    for left_out in range(len(target)):
        known = [i for i in range(len(target)) if i != left_out]
        scores = {
            name: sum(guess(kernel, i, [j for j in known if j != i]) == target[i] for i in known)
            for name, kernel in candidates.items()
        }
        best = next(name for name in candidates if scores[name] == max(scores.values()))
        hits.append(100.0 * (guess(candidates[best], left_out, known) == target[left_out]))
    return hits


def test_leave_one_out_equals_the_definition():
    rng = np.random.default_rng(1)
    target = np.repeat([0, 1, 2], 5)
    noise = [rng.normal(size=(15, 15)) for _ in range(3)]
    candidates = {i: np.equal.outer(target, target) + part + part.T for i, part in enumerate(noise)}
    computed = leave_one_out(candidates, target)
    assert computed["folds"] == naive_leave_one_out(candidates, target)
    assert computed["accuracy"] == pytest.approx(np.mean(computed["folds"]), abs=1e-4)


def test_unit_leaves_its_argument_alone():
    kernel = np.array([[4.0, 2.0], [2.0, 9.0]])
    assert np.allclose(unit(kernel), [[1, 1 / 3], [1 / 3, 1]])
    assert kernel[0, 0] == 4
