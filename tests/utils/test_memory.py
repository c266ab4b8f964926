"""How much memory there is."""

import sys

import pytest

from propkernels.utils import arrays as memory
from propkernels.utils.arrays import available_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux says")
def test_there_is_some_and_not_more_than_the_machine_has():
    import psutil

    assert 0 < available_memory() <= psutil.virtual_memory().total


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_the_innermost_limit_and_those_around_it(tmp_path):
    root = tmp_path / "cgroup"
    write(root / "a", memory__max="max\n", memory__current="7\n")
    write(
        root / "a/b", memory__max="1000\n", memory__current="400\n", memory__stat="anon 1\ninactive_file 50\n"
    )
    processes = tmp_path / "self"
    processes.write_text("0::/a/b\n")
    assert list(memory._control_groups(processes, root)) == [650]
    (root / "a/memory.max").write_text("500\n")
    assert sorted(memory._control_groups(processes, root)) == [493, 650]


def test_the_first_version_of_control_groups(tmp_path):
    group = tmp_path / "cgroup/memory/box"
    write(group, memory__limit_in_bytes="90", memory__usage_in_bytes="100")
    processes = tmp_path / "self"
    processes.write_text("4:cpu,cpuacct:/box\n3:memory:/box\n")
    assert list(memory._control_groups(processes, tmp_path / "cgroup")) == [0]  # never less than nothing


def test_a_machine_that_says_nothing_has_no_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    assert available_memory() > 0  # all of the machine's
    monkeypatch.delattr(memory.os, "sysconf")
    assert available_memory() is None
