"""The paper's numbers, and how ours compare with them."""

import numpy as np
import pytest

from reproduction.engine.published import (
    Measured,
    compare,
    explanation,
    published,
    read_package_file,
    rows_and_columns,
    summarize,
)

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
BY_EYE = [
    ("labelled", "PK", "MUTAG", 84.5, 0.6, 0.2),
    ("labelled", "WL", "NCI109", 85.9, 0.1, 7.4 * 60),
    ("labelled", "GH", "DD", 68.9, 0.2, 69.1 * 3600),
    ("labelled", "LABELS", "NCI1", 64.6, 0.0, 4.5 * 60),
    ("partially_labelled", "LP+WL", "MSRC_9 80 %", 77.9, 1.0, None),
    ("partially_labelled", "PK", "MSRC_21 60 %", 79.5, 0.3, None),
    ("attributed", "CSM labels", "ENZYMES", 60.83, 0.2, 5.2 * 3600),
    ("attributed", "P2K labels+attr", "PROTEINS_full", 76.9, 0.2, 30.6 * 60),
    ("attributed", "SP attr", "SYNTHETIC", 83.9, 0.2, 11.5 * 3600),
    ("attributed", "A attr", "DHFR", 74.8, 0.2, 3.2 * 60),
    ("attributed", "GH labels+attr", "COX2", 79.5, 0.2, 11.7 * 60),
    ("point_clouds", "P2K labels+attr", "FIRSTMM_DB", 82.9, 0.0, 34.8),
    ("grids", "GLCM-quant", "BRODATZ-O-R-S-RS", 68.6, 0.0, 44.8),
    ("grids", "LABELS", "PLANTS", 59.5, 0.0, 11.5),
]


@pytest.mark.parametrize(("table", "row", "column", "accuracy", "error", "seconds"), BY_EYE)
def test_values_are_the_papers(table, row, column, accuracy, error, seconds):
    found = published(table, row, column)
    assert (found.accuracy, found.error) == (accuracy, error)
    assert found.seconds == (pytest.approx(seconds) if seconds is not None else None)


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


def test_explanations_belong_to_cells_of_the_paper():
    for table, rows in read_package_file("explanations.toml").items():
        cells = rows_and_columns(table)
        for row, columns in rows.items():
            for column in columns:
                rows_of_column = [one for one, other in cells if other == column and row in (one, "*")]
                assert rows_of_column
                assert all(explanation(table, one, column) for one in rows_of_column)
