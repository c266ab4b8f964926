"""JIT compilation: with a cache, without one, and not at all."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

import propkernels
from propkernels._utils import jit
from propkernels._utils.jit import compiled, count_numbers
from propkernels.codes import codes_compiled

PACKAGE = Path(propkernels.__file__).parent
IMPORT_ALL = """
import importlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
for path in sorted((root / "propkernels").rglob("*compiled*.py")):
    importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
import numpy as np
from propkernels.counts.counts_compiled import count_kept
lengths = np.zeros(2, dtype=np.int64)
count_kept(np.array([0, 2, 3]), np.array([0, 5, 1]), 3, lengths)
print(lengths.tolist())
"""
KERNELS = """
import json, numpy as np, propkernels as pk
graphs = pk.datasets.make_molecules(6, random_state=0).graphs
grids = pk.GridDatabase([np.arange(12).reshape(3, 4) % 3, np.arange(20).reshape(4, 5) % 2])
kernels = [pk.PropagationKernel(t_max=2, random_state=0), pk.WeisfeilerLehman(t_max=2), pk.ShortestPath(),
           pk.kernels.GraphHopper(), pk.kernels.SubgraphMatching(k=3)]
matrices = [kernel.fit_transform(graphs) for kernel in kernels] + [kernels[0].fit_transform(grids)]
lists = [matrix.tolist() for matrix in matrices]
print(json.dumps(lists))
"""


def run_python(code, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_where_nothing_can_be_cached_functions_are_compiled_all_the_same(tmp_path):
    """A read-only installation and a home that cannot be: here, files stand where folders would be made."""
    shutil.copytree(PACKAGE, tmp_path / "propkernels", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in (tmp_path / "propkernels").rglob("*compiled*.py")}:
        (folder / "__pycache__").write_text("in the way")
    (tmp_path / "file").write_text("no folder")
    home = str(tmp_path / "file" / "home")
    places = {"HOME": home, "XDG_CACHE_HOME": home, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}
    output = run_python(IMPORT_ALL, str(tmp_path), PYTHONPATH=str(tmp_path), **places)
    assert output == "[1, 1]\n"
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.slow
def test_everything_runs_as_python_and_gives_the_same_bits():
    space = {}
    exec(KERNELS, space)  # here, compiled
    assert json.loads(run_python(KERNELS, NUMBA_DISABLE_JIT="1")) == space["lists"]


def test_words_wrap_around_silently_as_python(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    square = compiled(lambda word: word * word)
    assert square(np.uint64(2**32 + 1)) == 2**33 + 1


def test_other_failures_of_the_compiler_are_not_hidden(monkeypatch):
    def failing(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setattr(jit, "njit", failing)
    with pytest.raises(RuntimeError, match="something else"):
        compiled(lambda x: x)


FIRST = """
import json, propkernels as pk
graphs = pk.datasets.make_molecules(6, random_state=0).graphs
lists = pk.PropagationKernel(random_state=0).fit_transform(graphs).tolist()
print(json.dumps(lists))
"""


@pytest.mark.slow
def test_the_first_kernel_does_not_wait_for_the_compiler(tmp_path):
    """An empty cache stays empty: small graphs run as Python, with the bits of machine code."""
    space = {}
    exec(FIRST, space)
    found = run_python(FIRST, NUMBA_CACHE_DIR=str(tmp_path))
    assert json.loads(found) == space["lists"]
    assert list(tmp_path.rglob("*.nbi")) == []


def sum_of(values):
    total = 0
    for value in values:
        total += value
    return total


@pytest.fixture
def adding(monkeypatch):
    """A function that starts as Python, and for which the disk has no machine code."""
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setattr(jit, "_is_on_disk", lambda dispatcher: False)
    return compiled(sum_of, passes=count_numbers)


def test_small_calls_run_as_python_until_they_have_taken_long(adding, monkeypatch):
    assert adding(np.arange(4)) == 6
    assert type(adding(np.arange(4))) is int
    assert adding.signatures == []
    monkeypatch.setattr(jit, "PATIENCE", 0.0)
    assert adding(np.arange(4)) == 6
    assert len(adding.signatures) == 1


def test_large_calls_are_compiled_at_once(adding, monkeypatch):
    monkeypatch.setattr(jit, "SMALL", 3)
    assert adding(np.arange(4)) == 6
    assert len(adding.signatures) == 1


def test_machine_code_on_the_disk_is_used(monkeypatch):
    from propkernels.counts.products_compiled import sum_rows

    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    start = jit._Start(sum_rows, count_numbers)
    monkeypatch.setattr(jit, "_is_on_disk", lambda dispatcher: True)
    monkeypatch.setattr(start, "compile", lambda *arguments: "machine code")
    assert start(np.array([0, 2]), np.ones(2), True, np.zeros(1)) == "machine code"


def test_functions_as_python_call_functions_as_python():
    caller = jit.as_python(codes_compiled.floor_code)
    assert caller(2.5) == 2
    assert jit.as_python(codes_compiled._hash_lane).__globals__["floor_code"] is caller
