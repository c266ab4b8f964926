"""The progress bar: after two seconds, where somebody sees it."""

import io
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

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


def test_nothing_without_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with ProgressBar("Working", 2) as bar:
        bar.step()
        bar.describe("Still")
    assert screen.getvalue() == ""
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
        bar.describe("Resting")
        bar.step()
        assert "Resting:  75%" in terminal.getvalue()
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


def test_progress_is_true_false_or_none():
    with pytest.raises(ValueError, match="progress must be None, True or False"):
        ProgressBar("Comparing", 2, progress=print)
