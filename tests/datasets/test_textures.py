from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from propkernels.datasets import load
from propkernels.datasets import textures as module
from propkernels.datasets.textures import cut_patches, load_texture_grids


def test_textures(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skimage")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a download was attempted"))
    data = load("TEXTURES")
    assert len(data.graphs) == 768
    assert set(data.graphs.graph_sizes.tolist()) == {1024}
    assert data.graphs.label_values == (0, 1, 2)
    assert data.target_names == ("brick", "grass", "gravel")
    assert np.bincount(data.target).tolist() == [256] * 3


def test_other_patches() -> None:
    pytest.importorskip("skimage")
    data = load_texture_grids(patch_size=128, n_levels=5)
    assert len(data.graphs) == 48
    assert set(data.graphs.label_values) <= set(range(5))


def test_patches_are_cut_row_by_row() -> None:
    patches = cut_patches(np.arange(35).reshape(5, 7), 2)
    assert patches.shape == (6, 2, 2)
    assert patches[1].tolist() == [[2, 3], [9, 10]]
    with pytest.raises(ValueError, match="patch_size must be between 1 and 5, got 6"):
        cut_patches(np.zeros((5, 7)), 6)
    with pytest.raises(ValueError, match="got 0"):
        cut_patches(np.zeros((5, 7)), 0)


def test_without_scikit_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ImportError, match=r"TEXTURES needs scikit-image: .*propkernels\[images\]"):
        load("TEXTURES")


def test_a_scikit_image_without_the_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skimage")
    monkeypatch.setattr(Path, "exists", lambda *_: False)
    with pytest.raises(ImportError, match=r"ships brick\.png, and the installed one does not"):
        module.read_texture("brick")
