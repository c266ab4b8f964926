"""Descriptors of whole graphs: kept by subsets, concatenation, pickles and files."""

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.descriptors import descriptors_of
from tests.zoo import labelled_zoo

NAMES = ["mass", "charge"]


def described(graphs=None):
    graphs = labelled_zoo() if graphs is None else graphs
    values = np.arange(2.0 * len(graphs)).reshape(-1, 2)
    values[1, 0] = np.nan
    return graphs.with_descriptors(values, NAMES)


def test_subsets_and_concatenations_keep_them():
    graphs = described()
    order = np.random.default_rng(0).permutation(len(graphs))
    np.testing.assert_array_equal(graphs[order].descriptors.values, graphs.descriptors.values[order])
    assert graphs[order].descriptors.names == tuple(NAMES)
    assert pk.GraphDatabase.concat([graphs[:3], graphs[3:]]) == graphs
    assert graphs[2:4].with_descriptors(None).descriptors is None


def test_other_edges_keep_what_belongs_to_graphs_and_nodes():
    molecules = described(pk.from_smiles(["CCO", "C=C"], standardize="charge"))
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([("a", "b", 0.0), ("b", "c", 1.0)], columns=["source", "target", "time"])
    contacts = pk.from_contacts(table, graph=None)
    for graphs in (molecules, contacts):
        for changed in (graphs.with_weights(None), graphs.with_edge_attributes(graphs.adjacency.data)):
            assert changed.descriptors == graphs.descriptors
            assert changed.moments == graphs.moments
            assert changed.sources == graphs.sources
            assert changed.standardized == graphs.standardized
    with pytest.raises(ValueError, match="edges of graphs in time need relations as labels"):
        contacts.with_edge_labels(None)


def test_pickles_and_files_keep_them(tmp_path):
    pytest.importorskip("pyarrow")
    graphs = described()
    assert pickle.loads(pickle.dumps(graphs)) == graphs
    graphs.save(tmp_path / "graphs.pk")
    assert pk.GraphDatabase.load(tmp_path / "graphs.pk") == graphs
    molecules = described(pk.datasets.make_molecules(5, random_state=0).graphs)
    molecules.to_parquet(tmp_path / "graphs.parquet")
    assert pk.GraphDatabase.from_parquet(tmp_path / "graphs.parquet") == molecules


def test_graphs_without_descriptors_are_described_by_their_structure():
    two = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    triangle = np.ones((3, 3)) - np.eye(3)
    graphs = pk.check_graphs([two, triangle, np.zeros((0, 0))])
    expected = [[4, 2, 2, 0], [3, 3, 1, 1], [0, 0, 0, 0]]
    np.testing.assert_array_equal(descriptors_of(graphs).values, expected)
