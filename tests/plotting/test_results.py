"""plot_evaluation, plot_two_sample_test and plot_similarity."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.models.evaluation_result import Choice, Evaluation
from propkernels.plotting.panels import turned

# plot evaluation


def make_evaluation(scores, metric="accuracy", split="a"):
    scores = np.array(scores, dtype=float)
    choices = tuple((Choice(1, 1.0),) * scores.shape[1] for _ in scores)
    return Evaluation("MUTAG", "PK", scores, choices, (0.1,), 1.0, metric=metric, split=split)


FIRST, SECOND = make_evaluation([[0.8, 0.8, 0.9]]), make_evaluation([[0.7, 0.8, 0.8]])


def test_every_fold_is_a_dot():
    ax = pk.plotting.plot_evaluation({"PK": FIRST, "LABELS": SECOND})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["PK", "LABELS"]
    dots = [
        np.asarray(collection.get_offsets()) for collection in ax.collections if len(collection.get_offsets())
    ]
    drawn = [sorted(d[:, 1].tolist()) for d in dots if len(d) == 3]
    np.testing.assert_allclose(drawn, [[80, 80, 90], [70, 80, 80]])
    assert len({tuple(row) for row in dots[0].tolist()}) == 3  # equal values stand side by side


def test_only_equal_folds_are_connected():
    connected = pk.plotting.plot_evaluation([FIRST, SECOND])
    apart = pk.plotting.plot_evaluation([FIRST, make_evaluation([[0.7, 0.8, 0.8]], split="b")])
    assert len(connected.lines) - len(apart.lines) == 3


def test_one_evaluation_and_other_metrics():
    ax = pk.plotting.plot_evaluation(make_evaluation([[0.1, 0.2]], metric="rmse"))
    assert ax.get_ylabel() == "rmse"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["PK"]


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="results of evaluate"):
        pk.plotting.plot_evaluation([1, 2])
    with pytest.raises(ValueError, match="different metrics"):
        pk.plotting.plot_evaluation([FIRST, make_evaluation([[0.1]], metric="rmse")])


# plot two sample test


def test_the_line_is_at_the_statistic_and_bars_hold_all_exchanges():
    graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    found = pk.two_sample_test(graphs[:10], graphs[10:], n_permutations=19)
    ax = pk.plotting.plot_two_sample_test(found, ax=Figure().subplots())
    assert sum(bar.get_height() for bar in ax.patches) == 19
    assert list(ax.lines[0].get_xdata()) == [found.statistic] * 2
    assert f"p = {found.p_value:.3g}" in ax.get_legend().get_texts()[1].get_text()


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="a result of two_sample_test, got list"):
        pk.plotting.plot_two_sample_test([1, 2])


# plot similarity

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
G, H = (PATH, ["C", "O", "C"]), (PATH, ["C", "O", "N"])
FOUND = pk.similar_because(G, H, kernel=pk.WeisfeilerLehman(t_max=1))


def shown(ax):
    points = next(child for child in ax.collections if isinstance(child, PathCollection))
    return np.asarray(points.get_array()), points


def test_nodes_show_their_part_on_either_side():
    left, right = pk.plotting.plot_similarity(FOUND)
    assert shown(left)[0].tolist() == [2, 1, 2]
    assert shown(right)[0].tolist() == [4, 1, 0]
    assert shown(left)[1].get_clim() == shown(right)[1].get_clim() == (0, 4)
    assert [ax.get_title() for ax in (left, right)] == ["g: 3 of 3 nodes", "h: 2 of 3 nodes"]
    assert left.figure.axes[-1].get_ylabel() == "part of k(g, h) = 5"
    assert [text.get_text() for text in right.texts] == ["C", "O", "N"]


def test_one_iteration():
    left, right = pk.plotting.plot_similarity(FOUND, t=1)
    assert shown(left)[0].tolist() == [1, 0, 1]
    assert shown(right)[0].tolist() == [2, 0, 0]


def test_the_result_draws_itself():
    axes = Figure().subplots(1, 2)
    assert pk.similar_because(G, H).plot(ax=axes, t=0) == list(axes)
    assert axes[0].figure.axes[-1].get_ylabel() == "part of similarity = 0.1429, t = 0"


def test_molecules_are_formulas():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"])
    for ax in pk.similar_because(graphs[0], graphs[1]).plot():
        assert len(ax.images) == 1
        assert not ax.texts


def test_grids():
    mask = np.array([[True, False, True], [True, True, True]])
    grids = pk.GridDatabase([np.zeros((2, 3), dtype=int), np.zeros((2, 2), dtype=int)], masks=[mask, None])
    left, right = pk.similar_because(grids[0], grids[1]).plot()
    assert len(left.collections[0].get_paths()) == mask.sum()
    assert len(right.collections[0].get_paths()) == 4


def test_nothing_in_common():
    left, _ = pk.similar_because((PATH, list("CCC")), (PATH, list("OOO"))).plot()
    assert shown(left)[0].tolist() == [0, 0, 0]
    assert left.get_title() == "g: 0 of 3 nodes"


def test_bad_arguments():
    with pytest.raises(ValueError, match="t must be between 0 and 1; got 2"):
        FOUND.plot(t=2)


def test_turned_points_fall_on_their_partners():
    rng = np.random.default_rng(0)
    reference, angle = rng.normal(size=(6, 2)), 0.7
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    order = rng.permutation(6)
    mirrored = reference[order] @ rotation * [1, -1] + [3, 5]
    pairs = np.column_stack([order, np.arange(6)])
    np.testing.assert_allclose(turned(mirrored, reference, pairs), reference[order], atol=1e-12)
    assert turned(mirrored, reference, pairs[:1]) is mirrored


def test_similar_graphs_are_drawn_alike():
    g = nx.random_labeled_tree(9, seed=1)
    h = nx.relabel_nodes(g, dict(zip(g, np.random.default_rng(1).permutation(9).tolist(), strict=True)))
    left, right = pk.similar_because(g, h).plot()
    places = [np.asarray(ax.collections[-1].get_offsets()) for ax in (left, right)]
    for a, b in pk.align(g, h).pairs.tolist():
        assert np.linalg.norm(places[0][a] - places[1][b]) < 4.0
