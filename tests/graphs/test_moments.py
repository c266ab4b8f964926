"""Moments: subsets, concatenation, equality, pickles, files and refusals."""

import pickle

import numpy as np
import pytest

import propkernels as pk

pd = pytest.importorskip("pandas")

MET = pd.DataFrame({"graph": [0, 0, 1], "source": "abx", "target": "bcy", "time": [1, 2, 5]})
MET["source"], MET["target"] = list("abx"), list("bcy")


@pytest.fixture
def graphs():
    return pk.from_contacts(MET)


def test_subsets_and_concatenation_keep_moments(graphs):
    last = graphs[1:]
    assert last.moments.times.tolist() == [5.0, 5.0]
    assert last.moments.vertices.to_array().tolist() == ["x", "y"]
    assert pk.GraphDatabase.concat([graphs[:1], last]) == graphs


def test_equal_graphs_at_other_times_differ(graphs):
    moments = graphs.moments
    assert graphs.with_moments(moments.vertices, moments.times + 1) != graphs


def test_pickle_model_file_and_parquet_keep_moments(graphs, tmp_path):
    assert pickle.loads(pickle.dumps(graphs)) == graphs
    graphs.save(tmp_path / "graphs.pk")
    assert pk.GraphDatabase.load(tmp_path / "graphs.pk") == graphs
    graphs.to_parquet(tmp_path / "graphs.parquet")
    assert pk.GraphDatabase.from_parquet(tmp_path / "graphs.parquet") == graphs


def test_graphs_with_and_without_time_do_not_mix(graphs):
    plain = pk.GraphDatabase(np.ones((2, 2)) - np.eye(2), [0, 2])
    with pytest.raises(ValueError, match="has no times"):
        pk.GraphDatabase.concat([graphs, plain])
