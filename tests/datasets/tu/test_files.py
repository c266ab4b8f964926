"""Archives and folders of TU data sets."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path

import pytest

from propkernels.datasets import read_tu
from propkernels.datasets.tu import files as archive
from propkernels.datasets.tu.files import read_files
from tests.datasets.tiny import TINY, write_folder, write_zip


def with_member(path: Path, member: str, content: bytes = b"") -> Path:
    write_zip(path, TINY)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        information = zipfile.ZipInfo("placeholder")
        information.filename = member  # as is: ZipInfo(...) would tidy it up
        information.compress_type = zipfile.ZIP_DEFLATED
        file.writestr(information, content)
    return path


@pytest.mark.parametrize(
    "member",
    ["../TINY_A.txt", "TINY/../../x", "/etc/x", "\\x", "C:\\x", "c:x", "TINY\\..\\..\\x", "//server/x", ".."],
)
def test_members_that_point_outside(tmp_path: Path, member: str) -> None:
    path = with_member(tmp_path / "TINY.zip", member)
    with pytest.raises(ValueError, match=r"TINY\.zip has a member that points outside its folder"):
        read_tu(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("member", ["TINY/a..b.txt", "TINY/..x", "a:b/x".replace("a:", "ab:")])
def test_members_that_only_look_odd(tmp_path: Path, member: str) -> None:
    assert len(read_tu(with_member(tmp_path / "TINY.zip", member)).graphs) == 2


def test_a_size_that_explodes(tmp_path: Path) -> None:
    path = with_member(
        tmp_path / "TINY.zip", "TINY/TINY_coordinates.txt", b"\n" * (archive.MOST_BYTES_UNSUSPECTED + 1)
    )
    assert path.stat().st_size < 2**20
    with pytest.raises(
        ValueError, match=r"TINY\.zip would grow from \d+ to \d+ bytes, more than the 100 times"
    ):
        read_tu(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_bounded_are_refused(tmp_path: Path, method: int) -> None:
    """A bzip2 member of 800 bytes unpacks to a gigabyte before zipfile looks at its declared size."""
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a", method) as file:
        file.writestr("TINY/TINY_coordinates.txt", b"0\n" * 2**20)
    with pytest.raises(ValueError, match=r"coordinates\.txt' is encrypted, or packed by another method"):
        read_tu(path)


def test_no_more_is_unpacked_than_the_directory_says(tmp_path: Path) -> None:
    """A deflated member that understates its size is cut there, and its checksum fails."""
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("TINY/TINY_coordinates.txt", b"0\n" * 2**24)
    content = path.read_bytes().replace((2**25).to_bytes(4, "little"), (8).to_bytes(4, "little"))
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match="Bad CRC-32"):
        read_tu(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_a_size_too_large_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 50)
    with pytest.raises(ValueError, match=r"TINY\.zip would grow to \d+ bytes, more than the 50 allowed"):
        read_tu(write_zip(tmp_path / "TINY.zip", TINY))


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    with pytest.raises(ValueError, match=r"TINY\.zip has 4 members, more than the 3 allowed"):
        read_tu(write_zip(tmp_path / "TINY.zip", TINY))


def test_sizes_are_refused_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "TINY.zip", TINY)
    monkeypatch.setattr(archive, "MOST_BYTES", 50)
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("a member was read"))
    with pytest.raises(ValueError, match="would grow"):
        read_tu(path)


def test_damaged_zips(tmp_path: Path) -> None:
    whole = write_zip(tmp_path / "TINY.zip", TINY).read_bytes()
    path = tmp_path / "damaged.zip"
    for content in (b"", b"<html>not here</html>", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged\.zip is not a zip file, or it is damaged"):
            read_tu(path)


def test_a_member_whose_checksum_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "TINY.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for kind, text in TINY.items():
            file.writestr(f"TINY_{kind}.txt", text)
    path.write_bytes(path.read_bytes().replace(b"4, 5", b"4, 4", 1))
    with pytest.raises(ValueError, match=r"TINY\.zip: member TINY_A\.txt cannot be read \(Bad CRC-32"):
        read_tu(path)


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
