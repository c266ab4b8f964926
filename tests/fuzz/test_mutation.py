"""Mutation tests: code is replaced in live functions, and what becomes of mutants is told right."""

import importlib.util
import os

import pytest

from fuzz import mutants, mutation
from fuzz.mutants import MODULE, Mutant, mutants_of

CODE = """
from functools import lru_cache

def nearest(values, target):
    return min(values, key=lambda value: abs(value - target))

class Box:
    @property
    def size(self):
        return 2 + 3

@lru_cache
def shifted(x, by=1):
    return x - by
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of an invented station, imported."""
    folder = tmp_path / "hashing"
    folder.mkdir()
    path = folder / "boxes.py"
    path.write_text(CODE, encoding="utf-8")
    monkeypatch.setattr(mutants, "SOURCE", tmp_path)
    spec = importlib.util.spec_from_file_location("boxes", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made, path


def mutant_of(path, before):
    (found,) = [m for m in mutants_of(path) if m.before.split("  in  ")[0] == before]
    return found


@pytest.mark.parametrize(
    ("before", "call", "expected"),
    [
        ("2 + 3", lambda boxes: boxes.Box().size, -1),
        ("x - by", lambda boxes: boxes.shifted(5), 6),
        ("value - target", lambda boxes: boxes.nearest([1, 2, 9], 2), 1),
    ],
)
def test_live_functions_get_the_code_of_a_mutant(module, before, call, expected):
    """Also functions behind a property or a cache, and functions inside of functions."""
    boxes, path = module
    mutation.replace_code(mutant_of(path, before))
    assert call(boxes) == expected


def test_imports_give_the_module_of_a_mutant(module):
    _, path = module
    mutant = mutant_of(path, "1")
    assert mutant.function == MODULE
    finder = mutation.Mutation(mutant)
    spec = finder.find_spec("propkernels.hashing.boxes", None)
    changed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(changed)
    assert changed.shifted(5) == 3
    assert finder.find_spec("propkernels.hashing.other", None) is None


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(
    ("run", "end"), [(lambda m: 1, "killed"), (lambda m: 0, "survived"), (lambda m: 1 // 0, "killed")]
)
def test_a_mutant_is_killed_by_a_failing_test(run, end):
    mutant = Mutant("gram", "products", 1, 2, 3, "a", "b")
    assert mutation.run_all([mutant], run, 1, float("inf")) == [(mutant, end)]


def test_no_mutant_starts_after_the_deadline():
    mutant = Mutant("gram", "products", 1, 2, 3, "a", "b")
    assert mutation.run_all([mutant], None, 1, 0.0) == []


class Item:
    def __init__(self, path):
        self.path = path


def test_tests_of_the_module_come_first_and_only_those_that_call_the_function(tmp_path):
    harness = mutation.Harness([], 1, 0.0)
    names = ["kernels/test_wl.py", "gram/test_base.py", "gram/test_products.py", "gram/test_products_more.py"]
    harness.items = [Item(tmp_path / name) for name in names]
    mutant = Mutant("gram", "products", 7, 2, 8, "a", "b")
    called = (str(mutant.path), 7)
    harness.calls = {0: {called}, 1: {called}, 2: {(str(mutant.path), 9)}, 3: {called}}
    harness.seconds = {0: 0.1, 1: 0.3, 2: 0.1, 3: 0.2}
    assert harness.tests_of(mutant) == [3, 1, 0]
    outside = Mutant("gram", "products", MODULE, 2, 8, "a", "b")
    harness.calls |= {1: set(), 2: set()}
    assert harness.tests_of(outside) == [2, 3, 0]  # all tests of the module, and those that call it


def test_samples_are_drawn_by_station():
    first = mutation.drawn(["gram", "hashing"], None, 3, 0)
    assert [m.station for m in first] == ["gram"] * 3 + ["hashing"] * 3
    assert mutation.drawn(["hashing"], None, 3, 0) == first[3:]
    assert {m.module for m in mutation.drawn(["gram"], ["countings"], 5, 1)} == {"countings"}


def test_results_are_read_again(tmp_path, monkeypatch):
    """What was killed is not run again; what survived is."""
    path, asked = tmp_path / "mutation.json", []

    def run(sample, options):
        asked.append(list(sample))
        return [(mutant, "survived" if i == 0 else "killed") for i, mutant in enumerate(sample)]

    monkeypatch.setattr(mutation, "run_in_halves", run)
    words = ["--stations", "gram", "--sample", "3", "-o", str(path)]
    mutation.main(words)
    mutation.main(words)
    assert asked[1] == asked[0][:1]
    assert sorted(mutation.read_results(path).values()) == ["killed", "killed", "survived"]
