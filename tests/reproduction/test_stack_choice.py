"""Choosing on the training part."""

import numpy as np

from propkernels.learn.evaluation.result import Choice
from propkernels.learn.selection.folds import draw_folds, draw_seeds
from reproduction.protocols.stack_choice import choose

TARGET = np.arange(40) % 2
FOLD = draw_folds(TARGET, 4, 5, draw_seeds(0, 1)[0])[0]
GOOD = np.where(TARGET[:, None] == TARGET[None, :], 1.0, 0.0) + np.eye(40)
USELESS = np.eye(40)


def test_the_better_kernel_is_chosen():
    assert choose({0: USELESS, 1: GOOD}, TARGET, FOLD, (1.0,)).t_max == 1


def test_ties_go_to_the_smaller_step_then_the_smaller_cost():
    assert choose({0: USELESS, 1: GOOD, 2: GOOD}, TARGET, FOLD, (1.0, 10.0)) == Choice(1, 1.0)


def test_one_candidate_needs_no_look():
    nothing = np.full((40, 40), np.nan)
    assert choose({3: nothing}, TARGET, FOLD, (5.0,)) == Choice(3, 5.0)


def test_test_part_is_not_looked_at():
    poisoned, target = GOOD.copy(), TARGET.copy()
    poisoned[FOLD.test, :], poisoned[:, FOLD.test] = np.nan, np.nan
    target[FOLD.test] = 1 - target[FOLD.test]
    candidates = {0: USELESS, 1: poisoned}
    assert choose(candidates, target, FOLD, (1.0, 10.0)) == Choice(1, 1.0)
