"""Options of readers: target columns by name or number, and refusals that say what to do."""

import numpy as np
import pytest

from propkernels.datasets.tables import Reading

OPTIONAL = Reading(target_required=False)


def test_targets_of_a_table_are_named_or_have_a_usual_name():
    assert Reading().table_targets(["smiles", "y", "z"], "x.csv") == ["y"]
    assert Reading(target_columns=("z", "y")).table_targets(["smiles", "y", "z"], "x.csv") == ["z", "y"]
    assert OPTIONAL.table_targets(["smiles", "z"], "x.csv") == []
    with pytest.raises(ValueError, match=r"x.csv has no column with a usual name .* --target .*, of \['z'\]"):
        Reading().table_targets(["smiles", "z"], "x.csv", without="smiles")


def test_stored_targets_are_chosen_by_number():
    target = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    assert Reading(target_columns=("1",)).stored_target(target, 3, "x").tolist() == [4, 5, 6]
    both = Reading(target_columns=("1", "0")).stored_target(target, 3, "x")
    assert both.tolist() == [[4, 1], [5, 2], [6, 3]]
    assert Reading().stored_target(target, 3, "x").tolist() == target.tolist()
    for column in ("2", "y", "-1"):
        with pytest.raises(ValueError, match=r"x has 2 target columns without names: choose by number"):
            Reading(target_columns=(column,)).stored_target(target, 3, "x")
    with pytest.raises(ValueError, match="x has one target column: leave --target"):
        Reading(target_columns=("y",)).stored_target(target[:, 0], 3, "x")


def test_a_missing_target_is_an_error_where_it_is_required():
    assert OPTIONAL.stored_target(None, 3, "x").shape == (3, 0)
    assert OPTIONAL.stored_target(np.empty((3, 0)), 3, "x").shape == (3, 0)
    with pytest.raises(ValueError, match="x has no target: name its column by --target"):
        Reading().stored_target(None, 3, "x")


def test_several_targets_are_numbers():
    columns = [np.array([1, 0]), np.array([0.5, np.nan])]
    assert Reading().checked_target(columns, 2, "x").tolist()[0] == [1.0, 0.5]
    with pytest.raises(ValueError, match="x: the target kind is not numeric"):
        Reading(target_columns=("y", "kind")).checked_target([columns[0], np.array(["a", "b"])], 2, "x")
