from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

import propkernels as pk
from reproduction.data.pictures import cut_patches, load_brodatz, load_leaves, load_plants
from reproduction.engine.data import load_source

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    return tmp_path


def png(array):
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "png")
    return stream.getvalue()


def write_brodatz(folder, n):
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(folder / "brodatz32.zip", "w") as archive:
        for i in range(n):
            archive.writestr(
                f"crops/t{n - i}_D{i}.png", png(generator.integers(0, 256, (256, 256)).astype(np.uint8))
            )
        archive.writestr("crops/MAPPING.txt", "names")


def test_brodatz(folder):
    write_brodatz(folder, 3)
    data = load_brodatz()
    assert isinstance(data.graphs, pk.GridDatabase)
    assert repr(data) == "Dataset(BRODATZ: 192 images of 64 x 64, 786432 pixels, 3 labels, 3 classes)"
    assert data.target_names == ("t1_D2", "t2_D1", "t3_D0")
    assert np.bincount(data.target).tolist() == [64] * 3
    groups, versions, images = (data.extras[name] for name in ("groups", "versions", "images"))
    for group in np.unique(groups):
        assert versions[groups == group].tolist() == ["original", "rotated", "scaled", "rotated_scaled"]
        assert len(set(data.target[groups == group])) == 1
    np.testing.assert_array_equal(images[48], np.rot90(images[0]))
    np.testing.assert_array_equal(images[144], np.rot90(images[96]))
    np.testing.assert_array_equal(data.graphs[48].image, np.rot90(data.graphs[0].image))
    shares = np.bincount(data.graphs[0].node_labels) / 4096
    np.testing.assert_allclose(shares, 1 / 3, atol=0.01)
    middle = np.asarray(images[0], dtype=float)[9:54, 9:54]
    assert images[96].mean() == pytest.approx(middle.mean(), abs=1)


def test_two_versions_of_brodatz(folder):
    write_brodatz(folder, 1)
    data = load_source("BRODATZ-O-R")
    assert (data.name, len(data.graphs)) == ("BRODATZ-O-R", 32)
    assert data.extras["versions"].tolist() == ["original"] * 16 + ["rotated"] * 16


def test_patches_are_cut_row_by_row():
    patches = cut_patches(np.arange(35).reshape(5, 7), 2)
    assert patches.shape == (6, 2, 2)
    assert patches[1].tolist() == [[2, 3], [9, 10]]
    assert patches[3].tolist() == [[14, 15], [21, 22]]


@pytest.mark.slow
def test_plants(folder):
    from scipy.io import savemat

    generator = np.random.default_rng(0)
    cells = np.empty((4, 1), dtype=object)
    for i in range(4):
        cells[i, 0] = np.pad(generator.random((3, 4 + i, 3)), [(1, 1), (1, 1), (0, 0)])
    savemat(folder / "plants_demo.mat", {"A": cells, "graph_labels": np.array([[1.0], [2], [2], [3]])})
    data = load_source("PLANTS")
    assert data.target.tolist() == [1, 2, 2, 3]
    assert data.graphs.shapes.tolist() == [[5, 6], [5, 7], [5, 8], [5, 9]]
    assert data.graphs.inside is None
    (folder / "plants_demo.mat").write_bytes(b"no such file")
    with pytest.raises(ValueError, match=r"plants_demo\.mat cannot be read"):
        load_plants()


def test_leaves(folder):
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(folder / "plantdoc_75px.zip", "w") as archive:
        for name in ("test/rust/1.png", "train/rust/1.png", "train/healthy/2.png"):
            archive.writestr(f"leaves/{name}", png(generator.integers(0, 256, (6, 5, 3)).astype(np.uint8)))
    data = load_leaves()
    assert data.target_names == ("healthy", "rust")
    assert data.target.tolist() == [1, 0, 1]
    assert data.extras["split"].tolist() == ["test", "train", "train"]
    assert data.graphs.shapes.tolist() == [[6, 5]] * 3


@pytest.mark.parametrize(
    ("load", "file"), [(load_brodatz, "brodatz32.zip"), (load_leaves, "plantdoc_75px.zip")]
)
def test_archives_without_pictures(load, file, folder):
    with zipfile.ZipFile(folder / file, "w") as archive:
        archive.writestr("README.txt", "nothing here")
    with pytest.raises(ValueError, match=f"{file} does not contain images"):
        load()


def test_damaged_pictures_are_named(folder):
    with zipfile.ZipFile(folder / "brodatz32.zip", "w") as archive:
        archive.writestr("x/bark.png", b"damaged")
    with pytest.raises(ValueError, match=r"the image x/bark\.png cannot be read"):
        load_brodatz()


@pytest.mark.parametrize("load", [load_brodatz, load_plants, load_leaves])
def test_missing_files(load, folder, monkeypatch):
    with pytest.raises(FileNotFoundError, match="is needed, and it is not in the folder"):
        load()
    monkeypatch.delenv("PROPKERNELS_DATA")
    with pytest.raises(FileNotFoundError, match="set PROPKERNELS_DATA to the folder that has it"):
        load()


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("load", "pixels", "classes", "labels"),
    [(load_brodatz, 2048 * 4096, 32, 3), (load_plants, 671850, 3, 5), (load_leaves, None, 28, 5)],
)
def test_the_real_pictures(load, pixels, classes, labels, data_folder):
    try:
        data = load()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert pixels in (None, data.graphs.n_nodes)
    assert data.n_classes == classes
    assert len(data.graphs.label_values) == labels
