"""Importing the package does not load what it does not use, and leaves no trace."""

import gc
import subprocess
import sys

import pytest

from propkernels import quick_import as module

BEFORE = "import sys, propkernels as pk; pk.PropagationKernel; "


def in_fresh_process(code: str) -> str:
    """Run code in another interpreter; its output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print([name for name in sys.modules if name.startswith('scipy.stats')])", "[]"),
        ("import scipy.stats; print(float(scipy.stats.norm.cdf(0)))", "0.5"),
        ("from scipy import stats; print(float(stats.norm.cdf(0)))", "0.5"),
        ("from scipy.stats import norm; print(float(norm.cdf(0)))", "0.5"),
        ("from sklearn.utils.fixes import _mode; print(int(_mode([1, 2, 2]).mode[0]))", "2"),
        ("import gc; print(gc.isenabled())", "True"),
    ],
)
def test_after_the_import(code, output):
    assert in_fresh_process(BEFORE + code) == output


def test_what_is_there_already_stays(monkeypatch):
    import scipy.stats

    with module.quick_import():
        assert sys.modules["scipy.stats"] is scipy.stats


@pytest.fixture
def held(monkeypatch):
    """A placeholder for a small module, as if scikit-learn were not there yet."""
    monkeypatch.setattr(module, "DEFERRED", "this")
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with module.quick_import():
        yield sys.modules["this"]


def test_a_placeholder_is_no_module_until_it_is_asked(held, capsys):
    assert isinstance(held, module.Placeholder)
    assert not hasattr(held, "__file__")
    assert not gc.isenabled()
    assert "Gur Mra" in held.s
    assert not isinstance(sys.modules["this"], module.Placeholder)
    assert "Zen" in capsys.readouterr().out


def test_a_failed_import_leaves_no_placeholder(monkeypatch):
    monkeypatch.setattr(module, "DEFERRED", "antigravity_for_tests")
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with pytest.raises(RuntimeError), module.quick_import():
        raise RuntimeError
    assert "antigravity_for_tests" not in sys.modules
    assert gc.isenabled()
