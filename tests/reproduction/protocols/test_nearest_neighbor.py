"""Leave-one-out with the nearest neighbor."""

import numpy as np
import pytest

from reproduction.protocols.nearest_neighbor import leave_one_out


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
