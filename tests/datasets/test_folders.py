"""Folders: files of one kind, with or without a subfolder per class."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets.folders import read_folder
from propkernels.datasets.reading import Reading

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
