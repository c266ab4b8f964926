"""The figures of docs/guide/scale.md."""

import json
from types import SimpleNamespace

import pytest

import propkernels as pk
from benchmarks import scale, scale_tools


def test_the_page_shows_the_stored_figures():
    known = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    text = scale.PAGE.read_text(encoding="utf-8")
    shown = text.split(scale.BEGIN)[1].split(scale.END)[0].strip()
    assert shown == scale.page(known)
    assert set(known["figures"]) <= set(scale.GROUPS)


def test_misses_stand_out():
    lines = [scale.row("a", "< 1", "2", False), scale.row("b", "", "3"), scale.row("c", "< 1", "0", True)]
    text = scale.page({"environment": "a machine", "figures": {"size": lines}})
    assert text.splitlines()[-3:] == [
        "| a | < 1 | 2 | **missed** |",
        "| b |  | 3 |  |",
        "| c | < 1 | 0 | kept |",
    ]


def test_files_are_written_once(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "graphs.parquet"
    scale_tools.write_file(path, 0, 20)
    before = path.stat().st_mtime_ns
    scale_tools.write_file(path, 1, 20)
    assert path.stat().st_mtime_ns == before
    assert pk.partition(path).n_graphs == 20


def test_workers_are_killed_one_after_the_other(monkeypatch):
    status = {name: SimpleNamespace(name=name) for name in ("running", "starting")}
    workers = {
        "a": SimpleNamespace(process=SimpleNamespace(pid=11, status=status["running"])),
        "b": SimpleNamespace(process=SimpleNamespace(pid=7, status=status["running"])),
        "c": SimpleNamespace(process=SimpleNamespace(pid=5, status=status["starting"])),
        "d": SimpleNamespace(process=None),
    }
    cluster = SimpleNamespace(workers=workers)
    killed, sent, ticks = [], [], iter([False, False, False, True])

    class Done:
        def wait(self, seconds):
            return next(ticks)

    monkeypatch.setattr(scale.os, "kill", lambda pid, number: sent.append(pid))
    scale.kill_workers(cluster, Done(), killed, 2.0)
    assert killed == sent == [7, 11]
