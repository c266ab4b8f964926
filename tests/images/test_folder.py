from __future__ import annotations

import sys

import numpy as np
import pytest

from propkernels.images import KMeansColors, read_image_folder
from propkernels.images.folder import decode_picture

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(0)
    for name, shape in {
        "oak/b.png": (4, 5, 3),
        "oak/a.PNG": (3, 3, 3),
        "elm/c.jpg": (6, 6, 3),
        "elm/g.png": (2, 2),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(generator.integers(0, 256, shape).astype(np.uint8)).save(path)
    (tmp_path / "oak" / "notes.txt").write_text("not a picture")
    (tmp_path / "oak" / ".hidden.png").write_text("not a picture either")
    (tmp_path / "loose.png").write_text("in no class")
    return tmp_path


def test_reading(folder):
    pictures = read_image_folder(folder)
    assert repr(pictures) == "ImageFolder(4 images, 2 classes)"
    assert pictures.paths == ("elm/c.jpg", "elm/g.png", "oak/a.PNG", "oak/b.png")
    assert pictures.target_names == ("elm", "oak")
    assert pictures.target.tolist() == [0, 0, 1, 1]
    assert [image.shape for image in pictures.images] == [(6, 6, 3), (2, 2), (3, 3, 3), (4, 5, 3)]
    np.testing.assert_array_equal(pictures.images[3], np.asarray(Image.open(folder / "oak" / "b.png")))
    assert len(KMeansColors(3, random_state=0).fit_transform(pictures.images)) == 4


def test_unreadable_pictures_are_named(folder):
    (folder / "elm" / "broken.png").write_bytes(b"not a picture")
    with pytest.raises(ValueError, match=r"the image elm/broken\.png cannot be read"):
        read_image_folder(folder)


def test_cut_off_pictures_are_named(folder):
    path = folder / "oak" / "b.png"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"the image oak/b\.png cannot be read"):
        read_image_folder(folder)


def test_folders_without_pictures(tmp_path):
    with pytest.raises(ValueError, match=r"has no images .* nor subfolders with images"):
        read_image_folder(tmp_path)
    with pytest.raises(NotADirectoryError, match="there is no folder"):
        read_image_folder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("mode", "shape"), [("1", 2), ("LA", 2), ("P", 3), ("RGBA", 3), ("I;16", 2), ("F", 2)]
)
def test_modes(tmp_path, mode, shape):
    ramp = np.linspace(0, 255, 20).reshape(4, 5)
    if mode == "I;16":
        picture = Image.fromarray((ramp * 257).astype(np.uint16))
    elif mode == "F":
        picture = Image.fromarray(ramp.astype(np.float32))
    else:
        picture = Image.fromarray(ramp.astype(np.uint8)).convert(mode)
    path = tmp_path / ("x.tif" if mode == "F" else "x.png")
    picture.save(path)
    read = decode_picture(path.read_bytes(), "x")
    assert read.dtype == np.uint8
    assert read.ndim == shape
    if mode in ("I;16", "F"):
        np.testing.assert_allclose(read, ramp, atol=1)


def test_without_pillow(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"needs Pillow: .*propkernels\[images\]"):
        read_image_folder(folder)
