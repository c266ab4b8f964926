"""Splits without leaks: every similarity between training and test graphs is below the threshold."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import propkernels as pk
from tests.sets.test_clusters import GRAPHS, KERNEL, jaccard

MATRIX = jaccard(GRAPHS)


@pytest.mark.parametrize("threshold", [0.3, 0.35, 0.7])
def test_groups_are_the_components_of_similar_graphs(threshold):
    found = pk.sets.SimilarityGroupKFold(threshold=threshold, kernel=KERNEL).groups(GRAPHS)
    expected = connected_components(threshold <= MATRIX)[1]
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


@pytest.mark.parametrize(
    "splitter",
    [
        pk.sets.SimilarityGroupKFold(3, threshold=0.6, kernel=KERNEL),
        pk.SimilaritySplit(4, test_size=0.3, threshold=0.6, kernel=KERNEL, random_state=0),
    ],
    ids=["folds", "splits"],
)
def test_no_test_graph_is_similar_to_a_training_graph(splitter):
    folds = list(splitter.split(GRAPHS))
    assert len(folds) == splitter.get_n_splits()
    if isinstance(splitter, pk.sets.SimilarityGroupKFold):  # each graph is tested once
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(GRAPHS)))
    for train, test in folds:
        assert min(len(train), len(test)) > 0
        assert sorted([*train, *test]) == list(range(len(GRAPHS)))
        assert MATRIX[np.ix_(train, test)].max() < 0.6


def test_too_few_groups_are_a_sentence():
    with pytest.raises(ValueError, match=r"form 1 groups of similarity 0\.0 or more, and 5 are needed"):
        next(pk.sets.SimilarityGroupKFold(threshold=0.0, kernel=KERNEL).split(GRAPHS))
