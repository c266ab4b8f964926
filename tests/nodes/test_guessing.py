"""Self-training: the surest predictions of unlabeled nodes."""

from types import SimpleNamespace

import numpy as np

from propkernels.nodes.guessing import GUESSED, guess

LABELED = SimpleNamespace(pool=np.arange(100, 110))


def test_the_surest_nodes_of_each_class_are_taken():
    decisions = np.zeros((10, 3))
    decisions[:5, 0], decisions[5:, 2] = np.arange(1, 6), np.arange(5, 0, -1)
    guesses = guess(LABELED, decisions)
    n = int(np.ceil(GUESSED * 5))
    assert guesses.places.tolist() == [*range(105 - n, 105), *range(105, 105 + n)]
    assert guesses.classes.tolist() == [0] * n + [2] * n


def test_one_decision_tells_two_classes_apart():
    guesses = guess(LABELED, np.linspace(-5, 5, 10)[:, None])
    assert set(guesses.classes[guesses.places < 105]) == {0}
    assert set(guesses.classes[guesses.places >= 105]) == {1}
