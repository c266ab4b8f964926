"""A database from parts of unknown origin: what does not fit is refused before anything uses it."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs import GraphDatabase, LabelDistributions
from propkernels.graphs.packing import pack, unpack

PAIR = GraphDatabase([[0, 1], [1, 0]], [0, 2], ["C", "O"], edge_labels=["x", "x"], edge_attributes=[1.0, 1.0])


@pytest.mark.parametrize(
    "changed",
    [
        {"indices": np.array([1, 7])},
        {"indices": np.array([1, -1])},
        {"indices": np.array([0.0, 1.0])},
        {"indptr": np.array([0, 5, 2])},
        {"indptr": np.array([1, 1, 2])},
        {"data": np.array([1.0])},
        {"data": np.array([1.0, np.nan])},
        {"graph_ptr": np.array([0, 3])},
        {"graph_ptr": np.array([0, 1, 2])},
        {"node_labels": (np.array([0, 2]), ("C", "O"))},
        {"node_labels": (np.array([0, -2]), ("C", "O"))},
        {"node_labels": (np.array([0, 1]), ("C", "C"))},
        {"node_labels": (np.array([0]), ("C",))},
        {"edge_labels": (np.array([0, 9]), ("x",))},
        {"edge_attributes": np.array([[1.0]])},
        {"ids": ["a", "b"]},
        {"edge_attribute_names": ["a", "b"]},
    ],
)
def test_parts_that_do_not_fit(changed):
    with pytest.raises((TypeError, ValueError, IndexError)):
        unpack(pack(PAIR) | changed)


def test_label_distributions_come_back(tmp_path):
    labels = LabelDistributions([[0.5, 0.5], [1.0, 0.0]], values=["C", "O"], known=[True, True])
    graphs = PAIR.with_labels(labels)
    graphs.save(tmp_path / "graphs.pk")
    assert GraphDatabase.load(tmp_path / "graphs.pk") == graphs


def test_a_file_with_something_else(tmp_path):
    pk.save_model(pk.PropagationKernel(), tmp_path / "kernel.pk")
    with pytest.raises(ValueError, match="holds a PropagationKernel, not a GraphDatabase"):
        GraphDatabase.load(tmp_path / "kernel.pk")
