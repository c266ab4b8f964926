from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from propkernels.datasets.source import read_files
from tests.datasets.tiny import TINY, write_folder, write_zip


def test_name_is_found(tmp_path: Path) -> None:
    name, files = read_files(write_zip(tmp_path / "other.zip", TINY))
    assert name == "TINY"
    assert {kind: text.decode() for kind, text in files.items()} == TINY


def test_one_of_several_sets_by_its_name(tmp_path: Path) -> None:
    write_folder(tmp_path, TINY, "X")
    write_folder(tmp_path, {**TINY, "smiles": "C"}, "X_full")
    write_folder(tmp_path / "Y", TINY, "Y")
    for name, kinds in (("X", set(TINY)), ("X_full", {*TINY, "smiles"}), ("Y", set(TINY))):
        found, files = read_files(tmp_path, name)
        assert found == name
        assert set(files) == kinds


def test_several_sets_without_a_name(tmp_path: Path) -> None:
    write_folder(tmp_path, TINY, "X")
    write_folder(tmp_path, TINY, "Y")
    with pytest.raises(ValueError, match=r"holds several data sets \(X_A.txt, Y_A.txt\): name the one"):
        read_files(tmp_path)


def test_no_such_set(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "TINY.zip", TINY)
    with pytest.raises(ValueError, match=r"TINY.zip holds no file OTHER_A.txt"):
        read_files(archive, "OTHER")
    with pytest.raises(ValueError, match=r"empty holds no file NAME_A.txt"):
        read_files(write_folder(tmp_path / "empty", {}))
    with pytest.raises(FileNotFoundError, match="there is no folder or zip"):
        read_files(tmp_path / "nowhere")


def test_what_other_systems_leave_behind_is_passed_over(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/TINY/._TINY_A.txt", b"\x00\x05")
        archive.writestr("TINY/._TINY_A.txt", b"\x00\x05")
        archive.writestr("TINY/notes.txt", "not of the set")
        archive.writestr("TINY/README.txt", "about")
    assert set(read_files(path)[1]) == {*TINY, "README"}
