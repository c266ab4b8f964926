"""Cells and the store that keeps them."""

import json

import pytest

from reproduction.engine.cells import Cell, Store, plain_name

CELL = Cell.of("labelled", "PK", "MUTAG", 1, folds=10)


def test_a_value_comes_back(tmp_path):
    store = Store(tmp_path / "new" / "folder")
    assert CELL not in store
    store.keep(CELL, {"plain": {"accuracy": 84.5}})
    assert store[CELL] == {"plain": {"accuracy": 84.5}}
    assert Store(tmp_path / "new" / "folder")[CELL] == store[CELL]
    assert store.missing([CELL, Cell.of("labelled", "PK", "MUTAG", 2, folds=10)])[0].repeat == 2


def test_the_file_says_what_it_is(tmp_path):
    store = Store(tmp_path)
    store.keep(CELL, {"accuracy": 1.0})
    record = json.loads(store.path(CELL).read_text())
    assert record["row"] == "PK"
    assert record["settings"] == {"folds": 10}
    assert record["repeat"] == 1


def test_nothing_is_left_of_a_write_that_fails(tmp_path):
    store = Store(tmp_path)
    store.keep(CELL, {"accuracy": 1.0})
    with pytest.raises(TypeError):
        store.keep(CELL, {"accuracy": object()})
    assert store[CELL] == {"accuracy": 1.0}
    assert [path.name for path in store.path(CELL).parent.iterdir()] == [CELL.file_name]


def test_a_damaged_file_is_named(tmp_path):
    store = Store(tmp_path)
    store.keep(CELL, {"accuracy": 1.0})
    store.path(CELL).write_text('{"value": ')
    with pytest.raises(ValueError, match=CELL.file_name):
        store[CELL]


def test_a_file_of_other_settings_is_refused(tmp_path):
    store, other = Store(tmp_path), Cell.of("labelled", "PK", "MUTAG", 1, folds=5)
    store.keep(other, {"accuracy": 1.0})
    store.path(other).rename(store.path(CELL))
    with pytest.raises(ValueError, match="other settings"):
        store[CELL]


def test_settings_make_another_cell():
    one, same, other = (Cell.of("t", "PK", "MUTAG", 0, folds=folds, w=1) for folds in (10, 10, 5))
    assert one == same
    assert one.file_name == same.file_name
    assert one.file_name != other.file_name


def test_the_order_of_settings_does_not_matter():
    assert Cell.of("t", "r", "c", a=1, b=2) == Cell.of("t", "r", "c", b=2, a=1)


def test_repeats_share_a_place():
    assert Cell.of("t", "r", "c", 0).place == Cell.of("t", "r", "c", 7).place
    assert Cell.of("t", "r", "c", 0).file_name != Cell.of("t", "r", "c", 7).file_name


def test_file_names_are_plain():
    assert plain_name("../a b/100 %") == ".._a_b_100_percent"
    assert "/" not in Cell.of("t", "w 1e-5, t_max 3", "A/B").file_name
