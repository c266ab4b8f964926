from __future__ import annotations

from pathlib import Path

import pytest

from propkernels.datasets.locate import cache_folder, check_name, data_folder, find_in
from tests.datasets.tiny import TINY, write_folder, write_zip


@pytest.mark.parametrize("name", ["MUTAG", "REDDIT-BINARY", "Tox21_AR-LBD_testing", "MCF-7H", "p.1"])
def test_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["../MUTAG", "a/b", "a\\b", "/etc/passwd", "C:x", "..", ".", "", "a b", "a*"]
)
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a data set"):
        check_name(name)


def test_a_name_is_a_string() -> None:
    with pytest.raises(TypeError, match="must be a string, got int"):
        check_name(3)


def test_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_DATA", "somewhere")
    assert data_folder() == Path("somewhere")
    monkeypatch.delenv("PROPKERNELS_DATA")
    assert data_folder() is None


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    assert cache_folder(tmp_path / "other") == tmp_path / "other"
    monkeypatch.delenv("PROPKERNELS_CACHE")
    assert "propkernels" in cache_folder().parts


def test_find(tmp_path: Path) -> None:
    assert find_in(None, "TINY") is None
    assert find_in(tmp_path / "nowhere", "TINY") is None
    (tmp_path / "TINY").mkdir()
    assert find_in(tmp_path, "TINY") is None
    folder = write_folder(tmp_path / "TINY" / "raw", TINY).parent
    assert find_in(tmp_path, "TINY") == folder
    archive = write_zip(tmp_path / "TINY.zip", TINY)
    assert find_in(tmp_path, "TINY") == archive
