"""Atomic writes: a file is complete, or it is as it was before."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from propkernels.utils import files
from propkernels.utils.files import atomic_write, remove_stale_files

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


def test_file_is_there_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_text_keeps_its_line_ends(tmp_path):
    with atomic_write(tmp_path / "file", text=True) as stream:
        stream.write("ä\r\nb\n")
    assert (tmp_path / "file").read_bytes() == "ä\r\nb\n".encode()


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
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_write(path) as stream:
        stream.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_umask_is_never_changed(tmp_path, monkeypatch):
    """A umask of 0, be it for a moment, is one for all threads."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was changed"))
    with atomic_write(tmp_path / "file") as stream:
        stream.write(b"new")


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


def test_a_full_disk_is_named_too(tmp_path):
    path = tmp_path / "K.npz"
    with pytest.raises(OSError, match=r"No space left on device: .*K\.npz") as caught, atomic_write(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == []


def test_errors_of_other_files_keep_their_names(tmp_path):
    other = tmp_path / "input"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "file"):
        other.read_bytes()
    assert caught.value.filename == str(other)


def test_long_names(tmp_path):
    path = tmp_path / ("n" * 250)
    with atomic_write(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"


KILLED = """
import os, signal, sys
from propkernels.utils.files import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_files_of_killed_processes_are_removed_by_the_next_run(tmp_path):
    for name in ("file", "other"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
        assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".*.part"))) >= 1
    with atomic_write(tmp_path / "file") as stream:
        stream.write(b"whole")
    assert os.listdir(tmp_path) == ["file"]


def test_files_of_living_processes_and_of_other_machines_stay(tmp_path, monkeypatch):
    machine = files._machine()
    names = {
        f".a.{os.getppid()}-{machine}-00000000.part",
        f".a.{2**22 + 1}-{'0' * 8}-00000000.part",
        ".a.part",
        ".notes.1-2.part",
    }
    for name in names:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / f".a.{os.getpid()}-{machine}-00000000.part").write_bytes(b"")  # of a process before this one
    remove_stale_files(tmp_path)
    assert set(os.listdir(tmp_path)) == names


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


def test_ctrl_c_while_the_file_is_opened_stays_ctrl_c(tmp_path, monkeypatch):
    """Between fdopen and the assignment of its result the stream is collected, and closes the handle."""

    def interrupted(handle, mode):
        os.close(handle)
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fdopen", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "file"):
        pass
    assert list(tmp_path.iterdir()) == []
