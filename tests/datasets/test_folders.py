"""Folders: files of one kind, with or without a subfolder per class."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from propkernels.datasets.sources import read_folder, read_points
from propkernels.datasets.tables import Reading
from tests.kinds_of_input import write_kind

OPTIONAL = Reading(target_required=False)


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_subfolders_are_the_classes_of_graph_files(tmp_path):
    pytest.importorskip("pandas")
    write(tmp_path, "yes/a.edges", "x y")
    write(tmp_path, "no/b.edges", "x y\ny z")
    data = read_folder(tmp_path, Reading())
    assert data.target.tolist() == ["no", "yes"]
    assert data.graphs.graph_sizes.tolist() == [3, 2]
    assert data.name == tmp_path.name


def test_subfolders_are_the_classes_of_point_clouds(tmp_path):
    for name, n in (("yes/a.npy", 6), ("no/b.npy", 7)):
        (tmp_path / name).parent.mkdir()
        np.save(tmp_path / name, np.random.default_rng(n).normal(size=(n, 3)))
    data = read_folder(tmp_path, Reading())
    assert data.target.tolist() == ["no", "yes"]
    assert data.graphs.graph_sizes.tolist() == [7, 6]
    assert data.graphs.ids.tolist() == ["no/b.npy", "yes/a.npy"]
    assert data.target_names == ("no", "yes")


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


def test_a_target_is_optional_where_it_is_not_required(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    assert read_folder(tmp_path, OPTIONAL).target.shape == (1, 0)
    with pytest.raises(ValueError, match="has point clouds but no subfolders, one per class, to learn from"):
        read_folder(tmp_path, Reading())
    with pytest.raises(ValueError, match="their subfolders are the target"):
        read_folder(tmp_path, Reading(target_columns=("y",)))


def test_folders_without_readable_files_are_refused(tmp_path):
    write(tmp_path, "a.docx", "x")
    with pytest.raises(ValueError, match=r"has no files that can be read: a folder holds a TU data set"):
        read_folder(tmp_path, OPTIONAL)


def test_clouds_of_a_folder(tmp_path):
    data = open_source(write_kind("npy", tmp_path))
    clouds = [np.load(tmp_path / "npy" / name) for name in data.graphs.ids.tolist()]
    assert np.array_equal(data.extras["coordinates"], np.concatenate(clouds))
    assert np.array_equal(data.graphs.node_attributes, pk.from_points(clouds).node_attributes)
    assert data.target.tolist() == ["even"] * 6 + ["odd"] * 6
    assert data.graphs.ids[0] == "even/1.npy"


def test_arrays_that_are_no_clouds(tmp_path):
    for name, array in (("a", np.zeros((3, 6))), ("b", np.zeros(4))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(ValueError, match="one row per point and two or three coordinates"):
            read_points(tmp_path / f"{name}.npy")
    for name, array in (("c", np.array([["x", "y"]])), ("d", np.array([[{}, 1]], dtype=object))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(ValueError, match=r"array of (<U1|object) of shape \(1, 2\), and not one"):
            read_points(tmp_path / f"{name}.npy")
    np.save(tmp_path / "e.npy", np.zeros((4, 3)))
    whole = (tmp_path / "e.npy").read_bytes()
    (tmp_path / "e.npy").write_bytes(
        whole.replace(b"(4, 3), ", b"(4000000, 3), ").replace(b"      \n", b"\n", 1)
    )
    with pytest.raises(ValueError, match="cannot be read as a point cloud"):
        read_points(tmp_path / "e.npy")
