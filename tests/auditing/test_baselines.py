"""Baselines: tables of sizes and counts, and scores from them."""

import numpy as np

import propkernels as pk
from propkernels.auditing.baselines import additive, baseline_predictions, counts_by_graph, simple_tables
from propkernels.auditing.target import Target
from propkernels.models.folds import choosing_folds


def test_simple_tables():
    graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    tables = simple_tables(graphs)
    assert tables["counting nodes and edges"][:, 0].tolist() == graphs.graph_sizes.tolist()
    assert tables["counting node labels"].sum(axis=1).tolist() == graphs.graph_sizes.tolist()
    assert tables["counting degrees"].sum() == graphs.n_nodes
    wide = counts_by_graph(np.arange(80), np.zeros(80, dtype=int), 1)
    assert wide.shape == (1, 50)
    assert wide[0, -1] == 31


def test_sizes_are_learned_from_sizes():
    graphs = pk.datasets.make_molecules(80, random_state=2).graphs
    target = Target((graphs.graph_sizes > np.median(graphs.graph_sizes)).astype(np.int64), ("small", "large"))
    folds = choosing_folds(target.values, 5)
    decisions = baseline_predictions(graphs, target.columns, folds)["counting nodes and edges"]
    scores = [target.score(one, test) for one, (_, test) in zip(decisions, folds, strict=True)]
    assert np.mean(scores) > 0.9


def test_new_rows_are_on_the_curve_of_the_known_ones():
    known = np.linspace(0, 1, 200)[:, None]
    found = additive(known, np.abs(known - 0.5), np.array([[0.0], [0.5], [1.0]]))
    assert found.shape == (3, 1)
    assert found[1, 0] < 0.15 < 0.35 < min(found[0, 0], found[2, 0])
