from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import load_brodatz, load_leaves, load_plants

Image = pytest.importorskip("PIL.Image")


def png(array):
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "png")
    return stream.getvalue()


@pytest.mark.slow
def test_plants(tmp_path):
    from scipy.io import savemat

    generator = np.random.default_rng(0)
    cells = np.empty((4, 1), dtype=object)
    for i in range(4):
        cells[i, 0] = np.pad(generator.random((3, 4 + i, 3)), [(1, 1), (1, 1), (0, 0)])
    savemat(tmp_path / "plants_demo.mat", {"A": cells, "graph_labels": np.array([[1.0], [2], [2], [3]])})
    data = load_plants(folder=tmp_path)
    assert data.target.tolist() == [1, 2, 2, 3]
    assert data.graphs.shapes.tolist() == [[5, 6], [5, 7], [5, 8], [5, 9]]
    assert data.graphs.inside is None
    masked = load_plants(n_colors=3, outside="black", folder=tmp_path)
    assert masked.graphs.graph_sizes.tolist() == [12, 15, 18, 21]
    (tmp_path / "plants_demo.mat").write_bytes(b"no such file")
    with pytest.raises(ValueError, match=r"plants_demo\.mat cannot be read"):
        load_plants(folder=tmp_path)


def test_leaves(tmp_path):
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(tmp_path / "plantdoc_75px.zip", "w") as archive:
        for name in ("test/rust/1.png", "train/rust/1.png", "train/healthy/2.png"):
            archive.writestr(f"leaves/{name}", png(generator.integers(0, 256, (6, 5, 3)).astype(np.uint8)))
    data = load_leaves(folder=tmp_path)
    assert data.target_names == ("healthy", "rust")
    assert data.target.tolist() == [1, 0, 1]
    assert data.extras["split"].tolist() == ["test", "train", "train"]
    assert data.graphs.shapes.tolist() == [[6, 5]] * 3


@pytest.mark.parametrize(
    ("load", "file"), [(load_brodatz, "brodatz32.zip"), (load_leaves, "plantdoc_75px.zip")]
)
def test_archives_without_pictures(load, file, tmp_path):
    with zipfile.ZipFile(tmp_path / file, "w") as archive:
        archive.writestr("README.txt", "nothing here")
    with pytest.raises(ValueError, match=f"{file} does not contain images"):
        load(folder=tmp_path)


def test_damaged_pictures_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "brodatz32.zip", "w") as archive:
        archive.writestr("x/bark.png", b"damaged")
    with pytest.raises(ValueError, match=r"the image x/bark\.png cannot be read"):
        load_brodatz(folder=tmp_path)


@pytest.mark.parametrize("name", ["BRODATZ", "PLANTS", "LEAVES"])
def test_missing_files(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="is needed, and it is not in the folder"):
        pk.datasets.load(name)
    where = {info.name: info.where for info in pk.datasets.list_datasets()}
    assert where[name].startswith("needs ")
    monkeypatch.delenv("PROPKERNELS_DATA")
    with pytest.raises(FileNotFoundError, match="set PROPKERNELS_DATA to the folder that has it"):
        pk.datasets.load(name)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "pixels", "classes"), [("BRODATZ", 2048 * 4096, 32), ("PLANTS", 671850, 3), ("LEAVES", None, 28)]
)
def test_the_real_pictures(name, pixels, classes, data_folder):
    info = next(info for info in pk.datasets.list_datasets() if info.name == name)
    if info.where != "data folder":
        pytest.skip(f"{name} is not in the data folder: {info.where}")
    data = pk.datasets.load(name)
    assert pixels in (None, data.graphs.n_nodes)
    assert data.n_classes == classes == info.classes
    assert len(data.graphs) == info.graphs
    assert len(data.graphs.label_values) == info.node_labels
