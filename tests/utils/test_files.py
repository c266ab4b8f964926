"""Files that are whole or not there."""

import os

import pytest

from propkernels.utils.files import replacing


def test_file_is_there_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_failure(tmp_path, failure):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(failure):
        write_half(path, failure)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def write_half(path, failure):
    with replacing(path) as stream:
        stream.write(b"half")
        raise failure


def test_it_is_readable_like_any_other(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    with replacing(str(tmp_path / "file")):
        pass
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode
