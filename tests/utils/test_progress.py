"""The progress bar: after two seconds, where somebody sees it."""

import io
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from propkernels._utils import progress
from propkernels._utils.progress import ProgressBar, is_watched, reported, spinner


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch):
    """Not a fixture: pytest sets stderr anew after the fixtures."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_nothing_without_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with ProgressBar("Working", 2) as bar:
        bar.step()
        bar.on_progress(2, 3)
        bar.describe("Still", "a note")
    assert screen.getvalue() == ""
    assert (bar.done, bar.total) == (2, 3)
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched()


def test_nothing_before_two_seconds(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with ProgressBar("Working", 2) as bar:
        bar.step()
        bar.describe("Still working")
    with spinner("Waiting", interval=0.01):
        pass
    assert terminal.getvalue() == ""


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    with ProgressBar("Working", 4, done=1) as bar:
        bar._bar.mininterval = 0
        bar.step()
        assert "Working:  50%" in terminal.getvalue()
        bar.on_progress(6, 8)
        assert "6/8" in terminal.getvalue()
        bar.describe("Resting", "about 3 s left")
        assert "Resting" in terminal.getvalue()
        assert "about 3 s left" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")  # wiped away


def test_bytes_are_counted_in_their_units(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    with ProgressBar("Downloading", 4_000_000, unit="B") as bar:
        bar._bar.mininterval = 0
        bar.step(2_000_000)
    assert "2.00M/4.00M" in terminal.getvalue()


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


def test_steps_from_many_threads(monkeypatch):
    on_terminal(monkeypatch)
    with ProgressBar("Working", 4000) as bar:
        threads = [threading.Thread(target=lambda: [bar.step() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert bar.done == bar._bar.n == 4000


def test_no_thread_is_left_behind(monkeypatch):
    on_terminal(monkeypatch)
    before = threading.active_count()
    with ProgressBar("Working", 2) as bar, spinner("Waiting"):
        bar.step()
    assert threading.active_count() == before


def test_a_notebook_is_watched(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert is_watched()
    ipython.get_ipython = lambda: SimpleNamespace(config={})
    assert not is_watched()


def test_progress_is_reported_to_a_function():
    told = []
    with reported(lambda *parts: told.append(parts), "Comparing", 5) as step:
        step(2)
        step(1)
    assert told == [(2, 5), (3, 5)]


@pytest.mark.parametrize(("progress", "n_bars"), [(None, 1), (True, 1), (False, 0)])
def test_progress_is_a_bar_unless_it_is_false(monkeypatch, progress, n_bars):
    bars = []
    monkeypatch.setattr("propkernels._utils.progress.is_watched", lambda: bars.append(1))
    with reported(progress, "Comparing", 2) as step:
        step(2)
    assert len(bars) == n_bars


def test_lines_instead_of_a_bar_in_pipes(monkeypatch, capsys):
    monkeypatch.setattr(progress.PlainLines, "EVERY", 0.0)
    with progress.ProgressBar("Comparing", 3) as bar:
        bar.step()
    assert capsys.readouterr().err == ""
    with progress.plain_lines(), progress.ProgressBar("Comparing", 3) as bar:
        bar.step(2)
    assert capsys.readouterr().err == "Comparing: 2 of 3, 0 s\n"
    monkeypatch.setattr(progress.PlainLines, "EVERY", 10.0)
    with progress.plain_lines(), progress.ProgressBar("Comparing", 3) as bar:
        bar.step(2)
    assert capsys.readouterr().err == ""
