from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from propkernels.datasets import archive, read_tu
from tests.datasets.tiny import TINY, write_zip


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
