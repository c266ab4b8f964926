"""Point clouds from files: coordinates come back, and files that lie are refused."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from propkernels.datasets.point_files import read_points
from tests.kinds_of_input import write_kind


def test_clouds_of_a_folder(tmp_path):
    data = open_source(write_kind("npy", tmp_path))
    clouds = [np.load(tmp_path / "npy" / name) for name in data.graphs.ids.tolist()]
    assert np.array_equal(data.extras["coordinates"], np.concatenate(clouds))
    assert np.array_equal(data.graphs.node_attributes, pk.from_points(clouds).node_attributes)
    assert data.target.tolist() == ["even"] * 6 + ["odd"] * 6
    assert data.graphs.ids[0] == "even/1.npy"


def test_arrays_that_are_no_clouds(tmp_path):
    for name, array in (("a", np.zeros((3, 6))), ("b", np.zeros(4)), ("c", np.array([["x", "y"]]))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(ValueError, match="one row per point and two or three coordinates"):
            read_points(tmp_path / f"{name}.npy")
    np.save(tmp_path / "d.npy", np.array([[{}, 1]], dtype=object))
    with pytest.raises(ValueError, match="it has Python objects instead of numbers"):
        read_points(tmp_path / "d.npy")
    np.save(tmp_path / "e.npy", np.zeros((4, 3)))
    whole = (tmp_path / "e.npy").read_bytes()
    (tmp_path / "e.npy").write_bytes(
        whole.replace(b"(4, 3), ", b"(4000000, 3), ").replace(b"      \n", b"\n", 1)
    )
    with pytest.raises(ValueError, match="cannot be read as a point cloud"):
        read_points(tmp_path / "e.npy")
