from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from propkernels.datasets import Dataset, make_molecules
from propkernels.graphs import GraphDatabase

EMPTY_GRAPHS = GraphDatabase(np.zeros((3, 3)), [0, 1, 3])


def test_it_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dataset("X", EMPTY_GRAPHS, np.array([0, 1])).name = "Y"  # type: ignore[misc]


def test_target_must_fit() -> None:
    with pytest.raises(ValueError, match="target has 3 values for 2 graphs"):
        Dataset("X", EMPTY_GRAPHS, np.array([0, 1, 1]))


@pytest.mark.parametrize(
    ("target", "end"),
    [([0, 1], "2 classes)"), ([4, 4], "1 class)"), ([0.5, 1.0], "1 target column)")],
)
def test_repr(target: list[float], end: str) -> None:
    shown = repr(Dataset("X", EMPTY_GRAPHS, np.array(target)))
    assert shown == f"Dataset(X: 2 graphs, 3 nodes, 0 edges, {end}"


def test_repr_of_several_target_columns() -> None:
    assert repr(Dataset("X", EMPTY_GRAPHS, np.zeros((2, 12)))).endswith("12 target columns)")


def test_pickle() -> None:
    data = make_molecules(5, random_state=0)
    copy = pickle.loads(pickle.dumps(data))
    assert copy.graphs == data.graphs
    assert repr(copy) == repr(data)
