"""The paper's numbers, and how ours compare with them."""

import numpy as np
import pytest

from reproduction.engine.published import Measured, compare, published, rows_and_columns, summarize

TABLES = ("labelled", "partially_labelled", "attributed", "point_clouds", "grids")


def test_three_repeats_have_the_error_of_their_means_and_fewer_that_of_their_folds():
    assert summarize([[80.0, 90.0], [70.0, 90.0], [60.0, 100.0]]) == Measured(
        pytest.approx(np.mean([85, 80, 80])), pytest.approx(np.std([85, 80, 80], ddof=1) / np.sqrt(3)), 3
    )
    fewer = summarize([[80.0, 90.0, 70.0], [90.0, 90.0, 60.0]])
    assert fewer.error == pytest.approx(np.std([80, 90, 70, 90, 90, 60], ddof=1) / np.sqrt(6))
    assert np.isnan(summarize([[50.0]]).error)


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(84.5, "matches"), (85.5, "matches"), (83.5, "matches"), (85.6, "better"), (83.4, "worse")],
)
def test_verdicts_are_two_standard_errors_wide(mean, verdict):
    """The errors 0.3 and 0.4 make 0.5; the printed value may be off by 0.05."""
    assert compare(Measured(mean, 0.3, 10), 84.5, 0.4).verdict == verdict


# read by eye in the paper's tables


def test_every_cell_has_an_accuracy_or_says_why_not():
    cells = {
        (table, *place): published(table, *place) for table in TABLES for place in rows_and_columns(table)
    }
    for found in cells.values():
        assert (found.accuracy is None) == bool(found.missing) == (found.error is None)
    assert sum(found.bold for found in cells.values()) == 2 + 4 + 3 + 1 + 3
    assert cells["attributed", "P2K labels+attr", "PROTEINS_full"].bold
    assert cells["attributed", "PK labels+attr", "BZR"].normalized
    assert not cells["attributed", "PK labels", "BZR"].normalized
