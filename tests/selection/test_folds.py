"""Folds and seeds."""

from propkernels.selection.folds import draw_seeds


def test_seeds_of_more_repeats_begin_alike():
    assert draw_seeds(7, 5)[:2] == draw_seeds(7, 2)
    assert len(set(draw_seeds(7, 5))) == 5
