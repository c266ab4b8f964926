from reproduction.engine.cells import Cell, plain_name


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
