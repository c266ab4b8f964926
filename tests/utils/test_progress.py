"""The progress bar: after two seconds, where somebody sees it."""

import io
import re
import sys
import threading
from contextlib import suppress
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils import progress
from propkernels._utils.progress import ProgressBar, is_watched, spinner


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch):
    """Not a fixture: pytest sets stderr anew after the fixtures."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    with ProgressBar("Working", 4, done=1) as bar:
        bar._bar.mininterval = 0
        bar.step()
        assert "Working:  50%" in terminal.getvalue()
        bar.describe("Resting")
        bar.step()
        assert "Resting:  75%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")  # wiped away


def test_a_spinner_shows_the_time(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    seen = threading.Event()
    write = terminal.write

    def watched(text):
        if "Compiling" in text:
            seen.set()
        return write(text)

    monkeypatch.setattr(terminal, "write", watched)
    with spinner("Compiling", interval=0.05):
        assert seen.wait(30)
    assert "Compiling [00:00]" in terminal.getvalue()


def test_of_work_inside_work_only_the_inner_one_is_shown(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    with ProgressBar("Outer", 4) as outer:
        outer._bar.mininterval = 0
        with ProgressBar("Inner", 2) as inner:
            inner._bar.mininterval = 0
            outer.step()
            inner.step()
        assert "Outer" not in terminal.getvalue()
        assert "Inner:  50%" in terminal.getvalue()
        outer.step()
    assert "Outer:  50%" in terminal.getvalue()


@pytest.mark.parametrize(
    ("given", "where", "is_shown"),
    [(None, Terminal, True), (None, io.StringIO, False), (True, io.StringIO, True), (False, Terminal, False)],
)
def test_progress_is_shown_where_it_is_seen_unless_told_otherwise(monkeypatch, given, where, is_shown):
    screen = where()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    with ProgressBar("Comparing", 2, progress=given) as bar:
        if is_shown:
            bar._bar.mininterval = 0
        bar.step()
    assert ("Comparing:  50%" in screen.getvalue()) == is_shown
    ipython = ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for config in ({"IPKernelApp": {}}, {}):  # a notebook is watched, also where stderr is no terminal
        ipython.get_ipython = lambda config=config: SimpleNamespace(config=config)
        assert is_watched() == (where is Terminal or bool(config))


def fit(_):
    data = pk.datasets.make_molecules(30, random_state=0)
    pk.PropagationClassifier(random_state=0, kernel=pk.WeisfeilerLehman()).fit(data.graphs, data.target)


def featurize(folder):
    pk.datasets.make_molecules(30, random_state=0).graphs.to_parquet(folder / "g.parquet", row_group_size=10)
    plan = pk.scale.partition(folder / "g.parquet", nodes_per_part=100)
    pk.scale.featurize(plan, pk.PropagationFeatures(n_features=64, random_state=0), folder / "out")


def fit_nodes(_):
    graph = pk.datasets.make_molecules(1, random_state=0, mean_nodes=30).graphs
    pk.NodeClassifier(random_state=0).fit(graph, np.arange(graph.n_nodes) % 2)


SAID = [
    (fit, ("chosen of \\d+ settings for 30 graphs: WeisfeilerLehman, t_max", "choosing: \\d+ steps, .* s")),
    (featurize, ("plan: \\d+ parts of 1 files, 30 graphs", "part.* is written", "Featurizing: \\d+ steps")),
    (fit_nodes, ("chosen of \\d+ views for nodes: .*, C ",)),
]


@pytest.mark.parametrize(("work", "lines"), SAID)
def test_long_calls_say_what_they_do_to_the_logger_and_print_nothing(tmp_path, caplog, capfd, work, lines):
    with caplog.at_level("INFO", logger="propkernels"):
        work(tmp_path)
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert [line for line in lines if not re.search(line, said)] == []
    assert tuple(capfd.readouterr()) == ("", "")


def test_an_interrupted_call_says_so(caplog):
    with caplog.at_level("INFO", logger="propkernels"), suppress(KeyboardInterrupt), ProgressBar("Work", 3):
        raise KeyboardInterrupt
    assert re.fullmatch(r"Work: 0 steps, 0\.\d s, ended by KeyboardInterrupt", caplog.messages[-1])
