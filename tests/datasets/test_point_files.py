"""Point clouds from files: coordinates come back, and files that lie are refused."""

import numpy as np
import pytest

from propkernels.datasets import open_source
from propkernels.datasets.point_files import read_points
from tests.kinds_of_input import write_kind


def test_both_formats_give_the_same_graphs(tmp_path):
    arrays, files = (open_source(write_kind(kind, tmp_path)) for kind in ("npy", "ply"))
    assert np.array_equal(arrays.graphs.graph_ptr, files.graphs.graph_ptr)
    assert np.allclose(arrays.graphs.node_attributes, files.graphs.node_attributes, atol=1e-4)
    assert arrays.target.tolist() == files.target.tolist()
    assert files.graphs.ids[0] == "even/1.ply"


def header(n, layout="ascii", kind="float"):
    axes = "".join(f"property {kind} {axis}\n" for axis in "xyz")
    return f"ply\nformat {layout} 1.0\nelement vertex {n}\n{axes}end_header\n".encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"plx", "it has no header of PLY"),
        (header(2) + b"0 0 0\n", "announces 2 vertices, and has 1"),
        (header(10**9, "binary_little_endian") + b"0" * 12, "announces 1,000,000,000 vertices, more than"),
        (header(1, "zip"), "its format 'zip' is not ascii"),
        (header(1, kind="list uchar int"), "of its vertices is not a number"),
        (header(-1), "its first element is not vertex"),
    ],
)
def test_ply_files_that_lie(content, message, tmp_path):
    (tmp_path / "x.ply").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_points(tmp_path / "x.ply")


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
