"""Importing the package does not load what it does not use, and leaves no trace."""

import gc
import importlib
import subprocess
import sys

import pytest

from propkernels.cli import __main__ as module

BEFORE = (
    "import sys; from propkernels.cli.__main__ import quick_import\n"
    "with quick_import(): import propkernels.kernels\n"
    "import propkernels as pk; "
)


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


# What is asked of a placeholder first differs from process to process.
NOT_LOADED = "[name for name in sys.modules if name.startswith(('scipy.stats', 'pandas'))]"
FRAME = (
    "type(pk.PropagationKernel(random_state=0).set_output(transform='pandas')"
    ".fit_transform(pk.datasets.make_molecules(3, random_state=0).graphs)).__name__"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "output"),
    [
        (
            f"import gc; print({NOT_LOADED}, gc.isenabled()); import scipy.stats, pandas; "
            "print(float(scipy.stats.norm.cdf(0)), pandas.Series([1, 2]).sum())",
            "[] True 0.5 3",
        ),
        (
            "from scipy import stats; print(float(stats.norm.cdf(0))); "
            "from pandas.api.types import is_bool_dtype; print(is_bool_dtype(bool))",
            "0.5 True",
        ),
        (
            "from scipy.stats import norm; print(float(norm.cdf(0))); "
            "from sklearn.utils import fixes; print(fixes.pd.Series([1, 2]).sum())",
            "0.5 3",
        ),
        (
            f"from sklearn.utils.fixes import _mode; print(int(_mode([1, 2, 2]).mode[0])); print({FRAME})",
            "2 DataFrame",
        ),
    ],
    ids=["import", "from package", "from module", "through others"],
)
def test_after_the_import(code, output):
    assert in_fresh_process(BEFORE + code).split() == output.split()


@pytest.mark.parametrize("name", ["scipy.stats", "pandas"])
def test_what_is_there_already_stays(monkeypatch, name):
    already = importlib.import_module(name)
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with module.quick_import():
        assert sys.modules[name] is already


def test_what_is_not_installed_gets_no_placeholder():
    code = "import sys; from propkernels.cli import __main__ as module\n"
    code += "module.DEFERRED = ('not_a_package',)\n"
    code += "with module.quick_import(): print('not_a_package' in sys.modules)"
    assert in_fresh_process(code) == "False"


@pytest.fixture
def held(monkeypatch):
    """A placeholder for a small module, as if scikit-learn were not there yet."""
    monkeypatch.setattr(module, "DEFERRED", ("this",))
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with module.quick_import():
        yield sys.modules["this"]


def test_a_placeholder_is_not_a_module_until_it_is_asked(held, capsys):
    assert isinstance(held, module.Placeholder)
    assert not hasattr(held, "__file__")
    assert not gc.isenabled()
    assert "Gur Mra" in held.s
    assert not isinstance(sys.modules["this"], module.Placeholder)
    assert "Zen" in capsys.readouterr().out


def test_a_failed_import_leaves_no_placeholder(monkeypatch):
    monkeypatch.setattr(module, "DEFERRED", ("antigravity",))
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    with pytest.raises(RuntimeError), module.quick_import():
        raise RuntimeError
    assert "antigravity" not in sys.modules
    assert gc.isenabled()
