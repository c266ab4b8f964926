"""Datasets, and the list of those that are known by name."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from propkernels.datasets import Dataset, list_datasets, make_molecules
from propkernels.datasets.dataset import ELEMENTS, named, system_cache
from propkernels.graphs import GraphDatabase
from tests.datasets.tiny import TINY, write_folder

EMPTY_GRAPHS = GraphDatabase(np.zeros((3, 3)), [0, 1, 3])


def test_where(tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    write_folder(tmp_path / "data" / "MUTAG", TINY, "MUTAG")
    write_folder(tmp_path / "cache" / "MUTAG", TINY, "MUTAG")
    (tmp_path / "cache" / "NCI1.zip").write_text("not even a zip: it is not opened")
    catalogue = list_datasets()
    header, *lines = str(catalogue).split("\n")
    assert " ".join(header.split()) == "name graphs classes node labels attributes where"
    assert lines[3].split() == ["DD", "1,178", "2", "82", "-", "download"]
    assert {line[header.index("where") - 1] for line in lines} == {" "}
    assert repr(catalogue) == str(catalogue)
    where = {info.name: info.where for info in catalogue}
    assert where["MUTAG"] == "data folder"
    assert where["NCI1"] == "cache"
    assert where["NCI109"] == where["COX2"] == "download"
    assert where["DIGITS"] == where["FAMILIES"] == "bundled"
    assert where["make_molecules"] == "generated"


def test_elements_are_numbered_as_rdkit_numbers_them():
    chem = pytest.importorskip("rdkit.Chem")
    table = chem.GetPeriodicTable()
    assert {n: table.GetElementSymbol(n) for n in range(1, 93)} == ELEMENTS


def test_names_of_a_set_in_the_catalogue():
    graphs = GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=[0, 9], edge_labels=[2, 2])
    graphs = GraphDatabase.concat([graphs, graphs])
    data = named(Dataset("MUTAG", graphs, np.array([-1, 1])), "MUTAG")
    assert dict(data.graphs.names.labels) == data.graphs[1].database.names.labels == {0: "C"}
    assert data.graphs.names.edge_labels == {2: "double"}
    assert data.target_names == ("not mutagenic", "mutagenic")
    assert named(Dataset("MUTAG", graphs, np.array([5, 1])), "MUTAG").target_names == ()
    assert named(Dataset("other", graphs, np.array([5, 1])), "other").graphs.names.labels == {}


def test_a_part_keeps_names_extras_and_columns():
    data = make_molecules(12, random_state=0)
    extras = {"smiles": list("abcdefghijkl"), "coordinates": np.arange(data.graphs.n_nodes), "about": "text"}
    data = dataclasses.replace(data, extras=extras, target_names=("no", "yes"), columns={"n": np.arange(12)})
    part = data.take([5, 2])
    assert part.extras["smiles"] == ["f", "c"]
    assert part.extras["about"] == "text"
    assert len(part.extras["coordinates"]) == part.graphs.n_nodes
    assert part.extras["coordinates"][0] == data.graphs.graph_ptr[5]
    assert part.columns["n"].tolist() == [5, 2]
    only = data.take(np.flatnonzero(data.target == 1))
    assert only.target_names == ("yes",)


def test_a_sample_has_the_shares_of_the_classes():
    data = make_molecules(60, random_state=0)
    data = dataclasses.replace(data, target=np.repeat([0, 1, 2], [40, 15, 5]))
    assert np.bincount(data.sample(12).target).tolist() == [8, 3, 1]
    assert data.sample(60) is data
    some = data.sample(30, random_state=2)
    assert some.graphs[3] == data.graphs[int(some.extras["numbers"][3])]
    few = some.sample(10)
    assert few.graphs[3] == data.graphs[int(few.extras["numbers"][3])], (
        "numbers are those of the whole data set"
    )
    ids = data.sample(12, random_state=1).graphs.graph_sizes
    assert np.array_equal(ids, data.sample(12, random_state=1).graphs.graph_sizes)


def test_caches_of_all_systems(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert system_cache("linux") == Path.home() / ".cache" / "propkernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert system_cache("linux") == tmp_path / "propkernels"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert system_cache("win32") == tmp_path / "propkernels" / "propkernels" / "Cache"
    assert system_cache("darwin") == Path.home() / "Library" / "Caches" / "propkernels"


def test_targets_fit_their_graphs_and_gaps_are_left_out():
    data = Dataset("X", EMPTY_GRAPHS, np.array([1.0, np.nan]), columns={"name": ["a", "b"]})
    known = data.with_known_target()
    assert (known.target.tolist(), list(known.columns["name"])) == ([1], ["a"])
    with pytest.raises(ValueError, match="target has 1 values for 2 graphs"):
        Dataset("X", EMPTY_GRAPHS, np.zeros(1))
    with pytest.raises(ValueError, match="column 'x' has 3 values for 2 graphs"):
        Dataset("X", EMPTY_GRAPHS, np.zeros(2), columns={"x": [1, 2, 3]})
    for target, end in (([0, 1], "2 classes"), ([4, 4], "1 class"), ([0.5, 1.0], "1 target column")):
        shown = repr(Dataset("X", EMPTY_GRAPHS, np.array(target)))
        assert shown == f"Dataset(X: 2 graphs, 3 nodes, 0 edges, {end})"
