"""Atomic writes: a file is complete, or it is as it was before."""

import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from propkernels._utils.safe_files import atomic_write, is_system_error, open_regular

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_failure(tmp_path, failure):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(failure):
        write_half(path, failure)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def write_half(path, failure):
    with atomic_write(path) as stream:
        stream.write(b"half")
        raise failure


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    with atomic_write(str(tmp_path / "file")):
        pass
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_is_there_when_it_is_complete_with_its_old_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "file"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "real" / "made")
    with atomic_write(dangling) as stream:
        stream.write(b"new")
    assert (tmp_path / "real" / "made").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path / "real")) == ["file", "made"]


@posix
def test_what_is_not_a_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "not a regular file"), (tmp_path, "a folder")):
        with pytest.raises(OSError, match=f"{path.name} is {kind}"), atomic_write(path):
            pass
    with pytest.raises(OSError, match="/dev/null is not a regular file"), atomic_write("/dev/null"):
        pass
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "model.pk"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)
    assert ".part" not in str(caught.value)
    with pytest.raises(OSError, match=r"No space left on device: .*K\.npz") as caught:  # noqa: SIM117
        with atomic_write(tmp_path / "K.npz"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "K.npz")
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "K.npz"):
        (tmp_path / "input").read_bytes()
    assert caught.value.filename == str(tmp_path / "input")
    assert os.listdir(tmp_path) == []
    for name in ("EMFILE", "ENFILE", "ENOMEM", "EACCES", "EIO", "ENOSPC"):
        assert is_system_error(OSError(getattr(errno, name), name))


def test_two_writers_in_one_process(tmp_path):
    path, failures = tmp_path / "file", []

    def write(number):
        try:
            for _ in range(20):
                with atomic_write(path) as stream:
                    stream.write(bytes([number]) * 1000)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(path.read_bytes())) == 1
    assert os.listdir(tmp_path) == ["file"]
    assert Path(path).stat().st_size == 1000


@posix
@pytest.mark.parametrize("target", ["existing", "missing"])
def test_a_link_inside_a_folder_is_refused(tmp_path, target):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "existing").write_bytes(b"precious")
    (folder / "file").symlink_to(outside / target)
    with (
        pytest.raises(OSError, match="file is a symbolic link: it cannot be replaced"),
        atomic_write(folder / "file", follow_links=False) as stream,
    ):
        stream.write(b"new")
    assert os.listdir(outside) == ["existing"]
    assert (outside / "existing").read_bytes() == b"precious"
    assert os.listdir(folder) == ["file"]


def test_halves_of_surrogate_pairs_are_written_as_in_python(tmp_path):
    with atomic_write(tmp_path / "file", text=True) as stream:
        stream.write("caf\udce9 é\n")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "caf\\udce9 é\n"


@posix
def test_pipes_devices_and_folders_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe is not a regular file"):
        open_regular(tmp_path / "pipe")
    with pytest.raises(OSError, match="/dev/null is not a regular file"):
        open_regular("/dev/null")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"read")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_regular(tmp_path / "link") as stream:
        assert stream.read() == b"read"
