"""Explanations of novelty: they add up to the score, node by node, and are drawn."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.propagation import Diffusion

GRAPHS = pk.datasets.make_molecules(60, random_state=0, mean_nodes=10).graphs
TRAIN, NEW = GRAPHS[:45], GRAPHS[45:]


def detector(**parameters):
    return pk.NoveltyDetector(random_state=0, **parameters)


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
