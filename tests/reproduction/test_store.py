import json

import pytest

from reproduction.engine.cells import Cell, Store, write_text

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
    with pytest.raises(UnicodeEncodeError):
        write_text(store.path(CELL), "\ud800")
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
