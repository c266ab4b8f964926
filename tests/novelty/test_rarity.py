"""Rarity against a naive twin, one graph and one bin at a time."""

from collections import Counter as Bag
from fractions import Fraction
from math import log

import numpy as np

from propkernels.novelty.rarity import RarityScore
from tests.novelty.naive import GRAPHS, NEW, TRAIN, every_kernel, groups, training


def bags(counter, graphs):
    """For each graph and stream, the number of occurrences of each code, counted in Python."""
    return [
        [Bag(items.codes.tolist()) for items in counter.occurrences(graphs[[i]])] for i in range(len(graphs))
    ]


def naive_rarity(bag, others, n_nodes):
    """Nats per node and stream of one graph's bags, under the bags of other graphs."""
    total = 0.0
    for stream, counts in enumerate(bag):
        known = Bag()
        for other in others:
            known.update(other[stream])
        for code, number in counts.items():
            things = sum(known.values()) + Fraction(len(known) + 1, 2)
            total -= number * log((known[code] + Fraction(1, 2)) / things)
    return total / (n_nodes * len(bag))


@every_kernel
def test_rarity_is_the_information_of_the_bins(kernel):
    given = training(kernel)
    score, own = RarityScore.learn(given)
    known, new = bags(given.index._counter, TRAIN), bags(given.index._counter, NEW)
    sizes = [graph.n_nodes for graph in GRAPHS]
    for fold, members in enumerate(groups()):
        others = [known[j] for j in members]
        reference = [-naive_rarity(bag, others, sizes[22 + i]) for i, bag in enumerate(new)]
        np.testing.assert_allclose(score.of_new(NEW, given.index, True)[fold], reference, rtol=1e-9)
    for i in range(0, 22, 5):
        reference = [-naive_rarity(known[i], [known[j] for j in members], sizes[i]) for members in groups(i)]
        np.testing.assert_allclose(own[:, i], reference, rtol=1e-9)
