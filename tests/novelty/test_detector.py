"""NoveltyDetector: interface and guarantees; explanations add up to the score, node by node."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.novelty import detector as detector_module
from propkernels.novelty.detector import cross_conformal, deal_folds, ranked_by_fold
from propkernels.propagation import Diffusion

GRAPHS = pk.datasets.make_molecules(60, random_state=0, mean_nodes=10).graphs
TRAIN, NEW = GRAPHS[:45], GRAPHS[45:]


def detector(**parameters):
    return pk.NoveltyDetector(random_state=0, **parameters)


def test_outlier_mode_calls_a_share_of_the_graphs_outliers():
    model = detector(contamination=0.2, n_neighbors=3)
    labels = model.fit_predict(TRAIN)
    below = (model.training_scores_ < np.quantile(model.training_scores_, 0.2)).sum()
    assert (labels == -1).sum() == below
    decisions = model.decision_function(GRAPHS)
    np.testing.assert_allclose(decisions, model.score_samples(GRAPHS) - model.offset_)
    assert np.array_equal(model.predict(GRAPHS), np.where(decisions < 0, -1, 1))
    assert below <= 9
    assert set(labels) <= {-1, 1}


def test_outlier_mode_leaves_the_graph_itself_out():
    model = detector().fit(TRAIN)
    assert np.allclose(model.score_samples(TRAIN), 0)
    for i in (0, 7, 30):
        others = [j for j in range(45) if j != i]
        alone = detector().fit(TRAIN[others]).score_samples(TRAIN[[i]])
        assert model.training_scores_[i] == pytest.approx(alone[0], abs=1e-12)


@pytest.mark.slow
def test_held_out_scores_are_those_of_a_detector_without_the_fold():
    """Everything that p-values rest on is learned again, from nothing but the other folds."""
    model = detector(n_neighbors=2).fit(TRAIN)
    values = model._values(NEW, True)
    for fold in (0, 3):
        members = np.flatnonzero(model._folds != fold)
        twin = detector(n_neighbors=2).fit(TRAIN[members])
        np.testing.assert_allclose(values[fold], twin.score_samples(NEW), rtol=1e-9, atol=1e-9)
        held = np.flatnonzero(model._folds == fold)
        reference = twin.score_samples(TRAIN[held])
        np.testing.assert_allclose(model.held_out_scores_[held], reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [None, pk.WeisfeilerLehman(t_max=2), pk.ShortestPath()], ids=repr)
def test_scores_are_similarities_to_the_nearest_training_graphs(kernel):
    """Less one: of all, outside each fold, and of training graphs to the others."""
    model = detector(kernel=kernel, n_neighbors=3).fit(TRAIN)
    matrix = pk.similarity(GRAPHS, kernel=kernel) - 1
    new, known = matrix[45:, :45], matrix[:45, :45]
    np.testing.assert_allclose(model.score_samples(NEW), np.sort(new)[:, -3:].mean(axis=1))
    for fold, values in enumerate(model._values(NEW, True)[:-1]):
        rest = np.sort(new[:, model._folds != fold])
        np.testing.assert_allclose(values, rest[:, -3:].mean(axis=1))
    others = [np.sort(np.delete(row, i))[-3:].mean() for i, row in enumerate(known)]
    np.testing.assert_allclose(model.training_scores_, others)


def test_p_values_count_held_out_graphs():
    rng = np.random.default_rng(0)
    folds, held_out, values = rng.integers(3, size=20), rng.integers(5, size=20), rng.integers(5, size=(3, 4))
    reference = [(1 + sum(held_out[i] <= values[folds[i], x] for i in range(20))) / 21 for x in range(4)]
    assert cross_conformal(values, ranked_by_fold(held_out, folds, 3)).tolist() == reference


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised():
    """300 new graphs for each of eight training sets: p <= a in about a share a of them."""
    graphs = pk.datasets.make_molecules(8 * 350, random_state=5, mean_nodes=8).graphs
    found = []
    for repeat in range(8):
        part = graphs[350 * repeat : 350 * (repeat + 1)]
        found.append(pk.NoveltyDetector(random_state=repeat).fit(part[:50]).predict_p(part[50:]))
    for level in (0.05, 0.1, 0.2, 0.4):
        alarms = [float(np.mean(p <= level)) for p in found]
        assert np.mean(alarms) <= level + 3 * np.std(alarms) / np.sqrt(8) + 1e-9
        assert np.mean(alarms) <= 2 * level + np.sqrt(2 / 50)
        assert np.mean(alarms) >= level / 3


@pytest.mark.parametrize(
    ("parameters", "graphs", "word"),
    [
        ({"n_neighbors": 0}, TRAIN, "n_neighbors"),
        ({"contamination": 0.6}, TRAIN, "contamination must be"),
        ({"contamination": 0.0}, TRAIN, "contamination must be"),
        ({"contamination": "some"}, TRAIN, "contamination must be"),
        ({"kernel": pk.PropagationKernel(base_kernel="rbf")}, TRAIN, "dot product of counts"),
        ({}, TRAIN[:2], "at least 3 graphs"),
    ],
)
def test_what_cannot_be_fitted(parameters, graphs, word):
    with pytest.raises(ValueError, match=word):
        pk.NoveltyDetector(**parameters).fit(graphs)


def test_few_graphs_many_neighbors_grids_and_folds_of_one_size():
    assert detector().fit(TRAIN[:3]).predict_p(NEW).max() <= 1
    model = detector(n_neighbors=1000).fit(TRAIN)
    assert model._k == 45 - 5 - 1
    assert np.isfinite(model.predict_p(NEW)).all()
    rng = np.random.default_rng(0)
    grids = pk.GridDatabase([rng.integers(3, size=(5, 4)) for _ in range(8)])
    assert detector().fit(grids).score_samples(grids).shape == (8,)
    sizes = np.bincount(deal_folds(47, 3))
    assert len(sizes) == 10
    assert sizes.max() - sizes.min() == 1
    assert sorted(deal_folds(4, 0)) == [0, 1, 2, 3]


@pytest.fixture
def judging_forty(monkeypatch):
    monkeypatch.setattr(detector_module, "MOST_COMPARISONS", 0)
    monkeypatch.setattr(detector_module, "LEAST_JUDGED", 40)


def test_a_sample_is_judged_as_it_is_among_all(judging_forty, monkeypatch):
    graphs = pk.datasets.make_molecules(90, random_state=1).graphs
    sampled = pk.NoveltyDetector(random_state=0).fit(graphs)
    assert len(sampled.judged_) == len(sampled.training_scores_) == len(sampled.held_out_scores_) == 40
    assert np.bincount(sampled._folds[sampled.judged_]).tolist() == [4] * 10
    monkeypatch.undo()
    every = pk.NoveltyDetector(random_state=0).fit(graphs)
    assert every.judged_.tolist() == list(range(90))
    np.testing.assert_array_equal(sampled.training_scores_, every.training_scores_[sampled.judged_])
    np.testing.assert_array_equal(sampled.held_out_scores_, every.held_out_scores_[sampled.judged_])
    np.testing.assert_array_equal(sampled.score_samples(graphs[:5]), every.score_samples(graphs[:5]))


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        pk.PropagationKernel(t_max=2, n_hashes=2, random_state=1),
        pk.WeisfeilerLehman(t_max=2),
        pk.ShortestPath(),
        LabelHistogram(),
        pk.PropagationKernel(propagation=Diffusion(isolated="vanish"), t_max=2, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_explanations_add_up_to_minus_the_score(kernel, n_neighbors):
    model = detector(kernel=kernel, n_neighbors=n_neighbors).fit(TRAIN)
    strange = pk.from_networkx([nx.star_graph(9), nx.empty_graph(0), nx.empty_graph(2)])
    for graphs in (NEW, TRAIN, strange):
        explanation = model.explain(graphs)
        np.testing.assert_allclose(explanation.decisions, -model.score_samples(graphs), atol=1e-9)
        assert (explanation.contributions >= 0).all()
        sums = np.bincount(graphs.graph_ids, explanation.node_totals, len(graphs))
        np.testing.assert_allclose(sums + explanation.intercept, explanation.decisions, atol=1e-12)
        assert (np.asarray(explanation.intercept) >= -1e-12).all()


def test_parts_of_nodes_are_what_the_nearest_graph_has_not():
    """Each bin's count less that of the nearest graph, shared equally by its nodes."""
    model = detector().fit(TRAIN)
    explanation = model.explain(NEW)
    nearest = pk.similarity(GRAPHS)[45:, :45].argmax(axis=1)
    for i, j in enumerate(nearest):
        why = pk.similar_because(NEW[i], TRAIN[int(j)])
        union = why.graphs.graph_sizes.sum() * why.n_steps / (1 + why.value)  # l + r - s, s = value * union
        own = np.full((NEW[i].n_nodes, why.n_steps), 1 / union)
        np.testing.assert_allclose(explanation.of_graph(i), own - why.node_contributions("g"), atol=1e-12)


def test_seen_is_that_of_the_nodes_codes():
    model = detector().fit(TRAIN)
    explanation = model.explain(NEW)
    counter = model.index_._counter
    known = [set(found.codes.tolist()) for found in counter.occurrences(TRAIN)]
    for t, found in enumerate(counter.occurrences(NEW)):
        assert explanation.seen[:, t].tolist() == [float(code in known[t]) for code in found.codes.tolist()]
    first = [next((t for t in range(4) if not row[t]), -1) for row in explanation.seen.tolist()]
    assert explanation.unseen_nodes.tolist() == first
    assert explanation.top_nodes(0, 1)[0].keys() >= {"node", "total", "t3", "first_unseen_t"}


def test_an_explanation_is_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = pk.plotting.plot_explanation(detector().fit(TRAIN), NEW, graph=2)
    assert ax.figure.axes[1].get_ylabel() == "contribution to the novelty"
    plt.close(ax.figure)
