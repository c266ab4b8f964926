"""Suspects: graphs that are wrong in every cross-validation."""

import numpy as np

import propkernels as pk
from propkernels.auditing.suspects import suspects_of
from propkernels.auditing.target import Target


def test_planted_label_errors_are_found_and_nothing_else(clean):
    graphs, target = clean
    wrong = [4, 33, 51]
    flipped = target.copy()
    flipped[wrong] = 1 - flipped[wrong]
    report = pk.audit(graphs, flipped)
    assert sorted(report.suspects.graphs) == wrong
    for suspect in report.suspects.listed:
        assert suspect.given != suspect.predicted
        assert suspect.neighbors
        assert all(name != suspect.given for _, name, _ in suspect.neighbors)


def test_suspects_have_their_names_and_the_nearest_graphs_of_either_class():
    values = np.repeat([0, 1], 20)
    kernel = (values[:, None] == values) * 0.5 + np.eye(40) * 0.5
    kernel[0, 1] = kernel[1, 0] = 0.6
    flipped = values.copy()
    flipped[0] = 1
    suspects = suspects_of(kernel, 1.0, Target(flipped, ("a", "b")), 0, np.arange(100, 140))
    (suspect,) = suspects.listed
    assert suspects.graphs == (100,)
    assert (suspect.graph, suspect.given, suspect.predicted) == (100, "b", "a")
    assert suspect.neighbors[0] == (101, "a", 0.6)
    assert suspect.own == (120, 0.0)
    assert suspect.margin > 0


def test_errors_far_above_the_others_are_suspects():
    values = np.linspace(0.0, 1.0, 60)
    kernel = np.exp(-np.square(values[:, None] - values) / 0.02)
    values = values.copy()
    values[30] += 5.0
    assert suspects_of(kernel, 1.0, Target(values, ()), 0, np.arange(60)).graphs[0] == 30
