"""Several measurements of one graph are merged."""

import numpy as np
import pytest

import propkernels as pk

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs
ORDER = [0, 1, 0, 2, 1, 0, 3]


def test_numbers_are_averaged():
    target = np.array([1.0, 5.0, 2.0, 7.0, 5.0, 6.0, np.nan])
    merged = pk.molecules.merge_duplicates(GRAPHS[ORDER], target)
    assert merged.graphs == GRAPHS[:4]
    np.testing.assert_array_equal(merged.target, [3.0, 5.0, 7.0, np.nan])
    assert merged.sizes.tolist() == [3, 2, 1, 1]
    assert merged.spreads.tolist() == [5.0, 0.0, 0.0, 0.0]
    assert merged.inverse.tolist() == ORDER
    expected = "2 graphs with several measurements (5 rows); those of 1 differ, by up to 5."
    assert merged.sentence == expected


def test_columns_with_gaps_are_averaged_one_by_one():
    target = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 2.0]])
    merged = pk.molecules.merge_duplicates(GRAPHS[[0, 0, 1]], target)
    np.testing.assert_array_equal(merged.target, [[2.0, 4.0], [np.nan, 2.0]])


def test_classes_vote():
    merged = pk.molecules.merge_duplicates(GRAPHS[ORDER], np.array(["b", "a", "b", "a", "b", "a", "a"]))
    assert merged.target.tolist() == ["b", "a", "a", "a"]
    assert merged.spreads.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert merged.sentence == "2 graphs with several measurements (5 rows); those of 2 differ."


def test_faults_are_named():
    with pytest.raises(ValueError, match="one entry for each of 6 graphs"):
        pk.molecules.merge_duplicates(GRAPHS, [1.0])
    with pytest.raises(ValueError, match="one entry for each of 6 graphs"):
        pk.molecules.merge_duplicates(GRAPHS, np.empty((6, 0)))
    with pytest.raises(ValueError, match="must hold numbers"):
        pk.molecules.merge_duplicates(GRAPHS, list("abcdef"), task="numbers")
    with pytest.raises(ValueError, match="task"):
        pk.molecules.merge_duplicates(GRAPHS, np.zeros(6), task="mean")
    with pytest.raises(TypeError, match="all numbers or all strings"):
        pk.molecules.merge_duplicates(GRAPHS[:2], np.array(["a", 1], dtype=object))


@pytest.mark.parametrize("wrong", [np.inf, 1.7e308])
def test_numbers_whose_mean_would_overflow_are_refused(wrong):
    with pytest.raises(ValueError, match="of graph 1 is not"):
        pk.molecules.merge_duplicates(GRAPHS[[0, 0]], [1.0, wrong])


def test_classes_of_several_columns_vote_without_gaps():
    target = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, np.nan], [0.0, np.nan]])
    merged = pk.molecules.merge_duplicates(GRAPHS[[0, 0, 0, 1]], target, task="classes")
    np.testing.assert_array_equal(merged.target, [[1.0, 1.0], [0.0, np.nan]])
    texts = np.array(["b", None, None], dtype=object)
    assert pk.molecules.merge_duplicates(GRAPHS[[0, 0, 1]], texts).target.tolist() == ["b", None]
