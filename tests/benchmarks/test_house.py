"""Counting lines and following calls."""

import sys
from pathlib import Path

from benchmarks import house


def test_lines_are_code_docstrings_comments_or_blank():
    text = (
        '"""About."""\n\nx = """\ntext\n"""  # why\n\n# a comment\ndef f():\n    """What."""\n    return 1\n'
    )
    counts = house.count_lines(text)
    assert dict(counts) == {"lines": 10, "code": 5, "docstring": 2, "comment": 1, "blank": 2}


def test_tree_is_measured():
    figures = house.measure_tree(house.ROOT)
    files = list((house.ROOT / "src" / "propkernels").rglob("*.py"))
    assert figures["modules"] == len(files)
    assert figures["lines"] == sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


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
