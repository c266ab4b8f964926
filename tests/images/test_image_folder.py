import io
import struct
import sys
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propkernels.images import KMeansColors, read_image_folder
from propkernels.images import image_folder as module
from propkernels.images.image_folder import decode_image

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


@pytest.mark.slow
def test_reading(folder):
    pictures = read_image_folder(folder)
    assert repr(pictures) == "ImageFolder(4 images, 2 classes)"
    assert pictures.paths == ("elm/c.jpg", "elm/g.png", "oak/a.PNG", "oak/b.png")
    assert pictures.target_names == ("elm", "oak")
    assert pictures.target.tolist() == [0, 0, 1, 1]
    assert [image.shape for image in pictures.images] == [(6, 6, 3), (2, 2), (3, 3, 3), (4, 5, 3)]
    np.testing.assert_array_equal(pictures.images[3], np.asarray(Image.open(folder / "oak" / "b.png")))
    assert len(KMeansColors(3, random_state=0).fit_transform(pictures.images)) == 4


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
    read = decode_image(path.read_bytes(), "x")
    assert read.dtype == np.uint8
    assert read.ndim == shape
    if mode in ("I;16", "F"):
        np.testing.assert_allclose(read, ramp, atol=1)


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"


@pytest.mark.parametrize("content", [b"not a picture", POSTSCRIPT, None])
def test_pictures_that_cannot_be_read_are_named(folder, content):
    """What is cut off, and other formats: an EPS file would be handed to another program."""
    path = folder / "oak" / "b.png"
    path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    with pytest.raises(ValueError, match=r"the image oak/b\.png cannot be read"):
        read_image_folder(folder)
    with pytest.raises(NotADirectoryError, match="nowhere is not a folder"):
        read_image_folder(folder / "nowhere")
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match=r"has no images .* nor subfolders with images"):
        read_image_folder(folder / "empty")


def test_without_pillow(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"needs Pillow: .*pip install 'Pillow"):
        read_image_folder(folder)


def bomb(width, height):
    """A PNG of a few bytes whose header promises many pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("size", [(9_000, 9_000), (12_000, 12_000), (2**31 - 1, 2**31 - 1), (10**9, 1)])
def test_decompression_bombs_are_refused_by_their_headers(folder, size):
    (folder / "elm" / "bomb.png").write_bytes(bomb(*size))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"the image elm/bomb\.png cannot be read: .*(pixels|too large)"):
        read_image_folder(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_damaged_images_give_one_sentence(data):
    kind = data.draw(st.sampled_from(["PNG", "JPEG", "GIF", "TIFF", "BMP", "PPM", "WEBP"]))
    stream = io.BytesIO()
    Image.fromarray((np.arange(108).reshape(6, 6, 3) * 2).astype(np.uint8)).save(stream, kind)
    received = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(0, 4))):
        received[data.draw(st.integers(0, len(received) - 1))] = data.draw(st.integers(0, 255))
    del received[data.draw(st.integers(len(received) // 2, len(received))) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, about odd metadata
        try:
            said, image = "", decode_image(bytes(received), "x")
        except ValueError as error:
            said, image = str(error), np.empty(0, np.uint8)
    assert image.dtype == np.uint8
    assert not said or said.startswith("the image x cannot be read: ")
    assert "\n" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_links_out_of_the_folder_are_refused(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.png"
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(secret)
    (folder / "oak" / "inside.png").symlink_to(folder / "elm" / "g.png")
    assert len(read_image_folder(folder)) == 5
    (folder / "oak" / "out.png").symlink_to(secret)
    with pytest.raises(ValueError, match=r"oak/out\.png is a link that leads out of the folder"):
        read_image_folder(folder)
    (folder / "oak" / "out.png").unlink()
    (folder / "ash").symlink_to(secret.parent)
    with pytest.raises(ValueError, match=r"ash/secret\.png is a link that leads out"):
        read_image_folder(folder)


def test_files_and_folders_that_are_too_large(folder, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match=r"the images up to elm/c\.jpg take more than the 100 bytes allowed"):
        read_image_folder(folder)
    monkeypatch.setattr(module, "MOST_FILE_BYTES", 50)
    with pytest.raises(ValueError, match=r"elm/c\.jpg is larger than the 50 bytes allowed"):
        read_image_folder(folder)
