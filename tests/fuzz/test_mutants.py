"""Mutants: what is changed, and what is left alone."""

import ast

import pytest

from fuzz import mutants
from fuzz.mutants import MODULE, change, mutants_of, mutated, places_of

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
    monkeypatch.setattr(mutants, "SOURCE", tmp_path)
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
    for old, new in mutants.SWAPPED.items():
        assert old is not new
    tree = ast.parse("x")
    assert not any(change(place.node) for place in places_of(tree))


def test_mutants_are_part_of_a_function_or_of_the_module(path):
    """Defaults of parameters are set when the module is imported."""
    functions = {m.before.split("  in  ")[0]: m.function for m in mutants_of(path)}
    assert functions["1"] == functions["2"] == MODULE
    assert functions["not a"] == functions["a > b"] == 9


def test_functions_begin_at_their_first_decorator():
    tree = ast.parse("@first\n@second\ndef one():\n    return 1 + 1\n")
    assert {place.function for place in places_of(tree) if isinstance(place.node, ast.BinOp)} == {1}
