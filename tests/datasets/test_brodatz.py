"""The Brodatz textures."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import load_brodatz
from tests.datasets.test_pictures import png

Image = pytest.importorskip("PIL.Image")


def write_brodatz(folder, n=3):
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(folder / "brodatz32.zip", "w") as archive:
        for i in range(n):
            archive.writestr(
                f"crops/t{n - i}_D{i}.png", png(generator.integers(0, 256, (256, 256)).astype(np.uint8))
            )
        archive.writestr("crops/MAPPING.txt", "names")
    return folder


def test_brodatz(tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(write_brodatz(tmp_path)))
    data = pk.datasets.load("BRODATZ")
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


def test_parts_of_brodatz(tmp_path):
    write_brodatz(tmp_path, 1)
    data = load_brodatz(["original", "rotated"], n_levels=5, folder=tmp_path)
    assert len(data.graphs) == 32
    assert len(data.graphs.label_values) == 5
    assert load_brodatz("scaled", folder=tmp_path).extras["versions"].tolist() == ["scaled"] * 16
    with pytest.raises(ValueError, match="versions must be one of 'original'"):
        load_brodatz("turned", folder=tmp_path)
    with pytest.raises(ValueError, match="at least one version"):
        load_brodatz([], folder=tmp_path)
