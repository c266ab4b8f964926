"""Counting lines and following calls."""

import sys
from pathlib import Path

import pytest

import propkernels as pk
from benchmarks import house
from propkernels._utils import jit


def test_lines_are_code_docstrings_comments_or_blank():
    text = (
        '"""About."""\n\nx = """\ntext\n"""  # why\n\n# a comment\ndef f():\n    """What."""\n    return 1\n'
    )
    counts = house.count_lines(text)
    assert dict(counts) == {"lines": 10, "code": 5, "docstring": 2, "comment": 1, "blank": 2}


def test_a_tree_is_measured(tmp_path):
    package = tmp_path / "src" / "propkernels"
    (package / "low").mkdir(parents=True)
    (package / "__init__.py").write_text('"""All."""\n')
    (package / "low" / "__init__.py").write_text("")
    (package / "low" / "deep.py").write_text('"""What."""\n\n# why\nx = 1\ny = 2\n')
    figures = house.measure_tree(tmp_path)
    assert (figures["modules"], figures["folders"], figures["lines"]) == (3, 2, 6)
    assert figures["largest folder (files)"] == "2 (propkernels/low)"
    assert figures["docstring lines per line of code"] == 1.0
    assert figures["comment lines"] == 1


def test_the_files_of_a_walk_are_listed(tmp_path, capsys):
    package = tmp_path / "src" / "propkernels"
    package.mkdir(parents=True)
    (package / "one.py").write_text("x = 1\ny = 2\n")
    walk = {"files": 1, "depth": 2, "functions": 2, "by_file": {"one.py": ["f", "f.<locals>.<lambda>"]}}
    house.list_files(tmp_path, {"call": walk})
    assert capsys.readouterr().out.split("\n")[1:3] == [
        "call: 1 files, depth 2, 2 functions",
        "  one.py (2 lines): f",
    ]


def test_a_walk_counts_files_functions_and_depth(tmp_path):
    (tmp_path / "low.py").write_text("def leaf():\n    return 1\n")
    (tmp_path / "high.py").write_text(
        "def top(leaf):\n    return inner(leaf)\ndef inner(leaf):\n    return leaf()\n"
    )
    spaces = {name: {} for name in ("low", "high")}
    for name, space in spaces.items():
        path = tmp_path / f"{name}.py"
        exec(compile(path.read_text(), str(path), "exec"), space)
    walk = house.Walk(Path(tmp_path))
    sys.setprofile(walk)
    try:
        spaces["high"]["top"](spaces["low"]["leaf"])
    finally:
        sys.setprofile(None)
    assert (len(walk.files), len(walk.functions), len(walk.edges), walk.depth) == (2, 3, 1, 3)


@pytest.mark.slow
def test_a_default_fit_is_at_most_16_calls_deep(monkeypatch):
    monkeypatch.setattr(jit, "SMALL", -1)  # no call runs as Python, with any cache of machine code
    data = pk.datasets.make_molecules(60, random_state=0)
    pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    walk = house.Walk(Path(pk.__file__).parent)
    sys.setprofile(walk)
    try:
        pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    finally:
        sys.setprofile(None)
    assert walk.depth <= 16
