"""Mutants: what is changed, what is left alone, and what becomes of them."""

import ast
import os
from pathlib import Path

import pytest

from fuzz import mutation
from fuzz.mutation import Mutant, change, mutants_of, mutated, nodes_of, table

CODE = '''"""A module."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    X = 1 + 1


def larger(a: int = 1, b: "1 < 2" = 2) -> bool:
    """Return whether a is larger."""
    if not a and b:
        raise ValueError(1 + 1)
    print(-a)
    return a > b if a else False
'''


@pytest.fixture
def path(tmp_path, monkeypatch):
    folder = tmp_path / "hashing"
    folder.mkdir()
    (folder / "larger.py").write_text(CODE, encoding="utf-8")
    monkeypatch.setattr(mutation, "SOURCE", tmp_path)
    return folder / "larger.py"


def test_code_is_mutated_and_types_texts_and_messages_are_not(path):
    found = {(m.line, m.before.split("  in  ")[0], m.after) for m in mutants_of(path)}
    assert found == {
        (9, "1", "2"),
        (9, "2", "3"),
        (11, "not a", "not not a"),
        (11, "not a and b", "not a or b"),
        (13, "print(-a)", "None"),
        (13, "-a", "+a"),
        (14, "a > b if a else False", "False if a else a > b"),
        (14, "a > b", "a >= b"),
        (14, "False", "True"),
    }


def test_a_mutated_tree_has_one_change_and_runs(path):
    for mutant in mutants_of(path):
        tree = mutated(mutant)
        assert ast.unparse(tree) != ast.unparse(ast.parse(CODE))
        exec(compile(tree, "larger.py", "exec"), {})


def test_every_swap_changes_the_operator():
    for old, new in mutation.SWAPPED.items():
        assert old is not new
    tree = ast.parse("x")
    assert not any(change(node) for node, _ in nodes_of(tree))


def test_the_table_counts_by_station_and_lists_survivors():
    place = "gram", "products", 3, 7, "a < b  in  if a < b:", "a <= b"
    results = [(Mutant(*place), "survived"), (Mutant(*place), "killed"), (Mutant(*place), "slow")]
    text = table(results)
    assert "| gram | 3 | 2 | 1 | 66.7 |" in text
    assert "| all | 3 | 2 | 1 | 66.7 |" in text
    assert "- `gram/products.py:7`: `a < b  in  if a < b:` -> `a <= b`" in text


def test_tests_of_a_module_come_first():
    first, second, third = mutation.stages("gram", "products", False)
    names = [Path(word).name for word in first[:2]]
    assert names == ["test_products.py", "test_products_compiled.py"]
    assert [Path(stage[0]).name for stage in (second, third)] == ["gram", "kernels"]
    assert Path(mutation.stages("decisions", "rule", False)[-1][0]).name == "models"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(("mutant_kind", "expected"), [("changed", "killed"), ("same", "survived")])
def test_a_mutant_is_killed_by_a_failing_test(path, mutant_kind, expected, monkeypatch):
    mutant = next(iter(mutants_of(path)))
    monkeypatch.setattr(mutation, "run_stages", lambda *names: int(mutant_kind == "changed"))
    ((_, what),) = mutation.run_all([mutant], 1, float("inf"))
    assert what == expected
