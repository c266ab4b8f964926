"""Generators are judged by figures that follow from their definitions, and damaged copies are found out."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.sets.judging import jackknife_mmd
from tests.sets.test_clusters import jaccard
from tests.sets.test_comparing import naive_mmd

GRAPHS = pk.datasets.make_molecules(200, random_state=6, mean_nodes=12).graphs
TRAIN, HELD_OUT = GRAPHS[:100], GRAPHS[100:]
KERNEL = pk.WeisfeilerLehman(t_max=2)
QUICK = {"kernel": KERNEL, "n_permutations": 19}


def test_shares_of_valid_unique_and_novel_graphs():
    empty = pk.GraphDatabase(np.zeros((0, 0)), [0, 0, 0], node_labels=[])
    made = pk.GraphDatabase.concat([HELD_OUT[:50], HELD_OUT[:10], empty, TRAIN[:20]])
    found = pk.judge(TRAIN, made, **QUICK)
    assert found.valid == 80 / 82
    assert found.unique == 70 / 80
    assert found.novel == 50 / 70
    assert found.memorized.tolist() == list(range(62, 82))


def test_given_validity_counts():
    mask = np.arange(100) >= 30
    found = pk.judge(TRAIN, HELD_OUT, is_valid=mask, **QUICK)
    same = pk.judge(TRAIN, HELD_OUT[30:], **QUICK)
    assert found.valid == 0.7
    assert found.mmd == same.mmd
    assert found.coverage == same.coverage


def test_mmd_by_radius_is_that_of_the_kernel_of_each_iteration():
    found = pk.judge(TRAIN, HELD_OUT, **QUICK)
    below = np.zeros((200, 200))
    for t, one in enumerate(found.mmd):
        matrix = pk.WeisfeilerLehman(t_max=t).fit_transform(GRAPHS)
        assert one.value == pytest.approx(naive_mmd(matrix - below, 100), rel=1e-9, abs=1e-12)
        assert one.low <= one.value <= one.high
        below = matrix


@pytest.mark.slow
def test_intervals_contain_the_truth_about_as_often_as_promised():
    """Of 300 intervals of 90 % for a difference of means that is known."""
    rng, n_inside = np.random.default_rng(0), 0
    for repetition in range(300):
        first, second = rng.poisson([1.0, 2.0], (60, 2)), rng.poisson([2.0, 2.5], (80, 2))
        one = jackknife_mmd(csr_array(np.concatenate([first, second]).astype(float)), 60, 0.9, repetition)
        n_inside += one.low <= 1.25 <= one.high
    assert 250 <= n_inside <= 288


def test_coverage_and_density_are_those_of_the_definition():
    found = pk.judge(TRAIN, HELD_OUT, n_neighbors=3, **QUICK)
    matrix = jaccard(GRAPHS)
    to_known = matrix[:100, :100] - 2 * np.eye(100)
    reach = np.sort(to_known, axis=1)[:, -3]
    is_inside = matrix[:100, 100:] >= reach[:, None]
    assert found.coverage == is_inside.any(axis=1).mean()
    assert found.density == pytest.approx(is_inside.sum() / (3 * 100))


def shuffled(graph, rng):
    """The graph with as many bonds, between random atoms."""
    graph = nx.Graph(graph)
    n_edges = graph.number_of_edges()
    other = nx.gnm_random_graph(len(graph), n_edges, seed=int(rng.integers(2**31)))
    nx.set_node_attributes(other, dict(enumerate(nx.get_node_attributes(graph, "label").values())), "label")
    return other


def without_ends(graph):
    """The graph without the atoms of one bond."""
    graph = nx.Graph(graph)
    graph.remove_nodes_from([node for node in list(graph) if graph.degree(node) == 1][: len(graph) // 5])
    return graph


@pytest.mark.slow
def test_damaged_copies_are_worse_in_the_right_order():
    rng = np.random.default_rng(0)
    listed = [graph.to_networkx() for graph in HELD_OUT]
    mild = pk.from_networkx([without_ends(graph) for graph in listed])
    severe = pk.from_networkx([shuffled(graph, rng) for graph in listed])
    train, fresh = (pk.from_networkx([g.to_networkx() for g in own]) for own in (TRAIN, HELD_OUT))
    options = {"kernel": pk.WeisfeilerLehman(t_max=2, normalize=True), "n_permutations": 19}
    good, worse, worst = (pk.judge(train, own, **options) for own in (fresh, mild, severe))
    for t in (1, 2):
        assert good.mmd[t].value < worse.mmd[t].value < worst.mmd[t].value
    assert good.coverage >= worse.coverage >= worst.coverage
    assert good.accuracy < 0.7 < worst.accuracy
    assert worst.accuracy_p_value < 0.01
    assert worst.invented(3)[0].share_a == 0
    assert worst.missing(3)[0].share_b == 0


def test_same_seed_same_judgement_whatever_the_threads():
    one, two = (pk.judge(TRAIN, HELD_OUT, n_jobs=n, **QUICK) for n in (1, 2))
    assert one.records() == two.records()
    assert one.mmd == two.mmd


def test_texts():
    found = pk.judge(TRAIN, HELD_OUT, **QUICK)
    assert str(found).startswith("100 generated graphs, 100 training graphs")
    assert {record["figure"] for record in found.records()} >= {"valid", "MMD^2, t = 2", "coverage"}
    assert repr(found).startswith("Judgement(sizes=(100, 100)")


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(ValueError, match="40 training graphs"):
        pk.judge(TRAIN[:30], HELD_OUT)
    with pytest.raises(ValueError, match="is_valid has 3 entries"):
        pk.judge(TRAIN, HELD_OUT, is_valid=[True, True, False])
    with pytest.raises(ValueError, match="confidence"):
        pk.judge(TRAIN, HELD_OUT, confidence=2)


@pytest.mark.parametrize("wrong", [["False"] * 40, [None] * 40, [0.5] * 40, [2] * 40])
def test_validity_is_true_or_false(wrong):
    graphs = pk.datasets.make_molecules(40, random_state=0, mean_nodes=4).graphs
    with pytest.raises(TypeError, match="is_valid must hold True or False"):
        pk.judge(graphs, graphs, is_valid=wrong)
