"""Folders: files of one kind, with or without a subfolder per class."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from propkernels.datasets.sources import read_folder
from propkernels.datasets.tables import Reading
from tests.kinds_of_input import write_kind

OPTIONAL = Reading(target_required=False)


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_files_beside_subfolders_and_hidden_files_are_left_out(tmp_path):
    pytest.importorskip("pandas")
    for name in ("yes/a.edges", "no/b.edges", "c.edges", "no/.d.edges", ".e/f.edges"):
        write(tmp_path, name, "x y")
    assert len(read_folder(tmp_path, Reading()).graphs) == 2


def test_parquet_files_are_joined_with_their_targets(tmp_path):
    pytest.importorskip("pyarrow")
    data = pk.datasets.make_molecules(6, random_state=0)
    data.graphs[:4].to_parquet(tmp_path / "a.parquet", target=data.target[:4])
    data.graphs[4:].to_parquet(tmp_path / "b.parquet", target=data.target[4:])
    joined = read_folder(tmp_path, Reading())
    assert joined.target.tolist() == data.target.tolist()
    assert joined.graphs.graph_sizes.tolist() == data.graphs.graph_sizes.tolist()
    data.graphs[:2].to_parquet(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="some of its Parquet files have a target, and others have none"):
        read_folder(tmp_path, Reading())


def test_clouds_of_a_folder(tmp_path):
    data = open_source(write_kind("npy", tmp_path))
    assert read_folder(tmp_path / "npy" / "odd", OPTIONAL).target.shape == (6, 0)
    assert data.target_names == ("even", "odd")
    clouds = [np.load(tmp_path / "npy" / name) for name in data.graphs.ids.tolist()]
    assert np.array_equal(data.extras["coordinates"], np.concatenate(clouds))
    assert np.array_equal(data.graphs.node_attributes, pk.from_points(clouds).node_attributes)
    assert data.target.tolist() == ["even"] * 6 + ["odd"] * 6
    assert data.graphs.ids[0] == "even/1.npy"


@pytest.mark.parametrize(("errors", "sizes"), [("skip", [5]), ("empty", [5, 0])])
def test_invalid_clouds_are_left_out_or_empty(tmp_path, errors, sizes):
    whole = np.random.default_rng(0).random((5, 2))
    for name, cloud in {"a": whole, "b": np.full((3, 2), np.nan)}.items():
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "cloud.npy", cloud)
    with pytest.warns(UserWarning, match="1 of 2"):
        data = open_source(tmp_path, errors=errors)
    assert data.graphs.graph_sizes.tolist() == sizes
    assert data.target.tolist() == ["a", "b"][: len(sizes)]
    np.testing.assert_array_equal(data.extras["coordinates"], whole)
