"""Explanations of novelty: sums, occurrences of bins, and drawing."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.propagation import Diffusion

GRAPHS = pk.datasets.make_molecules(60, random_state=0, mean_nodes=10).graphs
TRAIN, NEW = GRAPHS[:45], GRAPHS[45:]


def detector(score="auto", **parameters):
    return pk.NoveltyDetector(score=score, random_state=0, **parameters)


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        pk.PropagationKernel(t_max=2, n_hashes=2, random_state=1),
        pk.WeisfeilerLehman(t_max=2),
        pk.ShortestPath(),
        pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()]),
        pk.PropagationKernel(propagation=Diffusion(isolated="vanish"), t_max=2, random_state=0),
    ],
    ids=repr,
)
def test_explanations_add_up_to_the_rarity(kernel):
    model = detector("rarity", kernel=kernel).fit(TRAIN)
    explanation = model.explain(NEW)
    assert np.abs(explanation.decisions + model.score_samples(NEW)).max() < 1e-9
    assert ((explanation.seen == 0) == (explanation.numbers == 0)).all()


def test_seen_and_numbers_are_those_of_the_nodes_codes():
    model = detector("size").fit(TRAIN)  # explains whatever the score is
    explanation = model.explain(NEW)
    counter = model.index_._counter
    known = [found.codes.tolist() for found in counter.occurrences(TRAIN)]
    for t, found in enumerate(counter.occurrences(NEW)):
        numbers = [known[t].count(code) for code in found.codes.tolist()]
        assert explanation.numbers[:, t].tolist() == numbers
        assert explanation.seen[:, t].tolist() == [float(number > 0) for number in numbers]
    first = [next((t for t in range(5) if not row[t]), -1) for row in explanation.seen.tolist()]
    assert explanation.unseen_nodes.tolist() == first
    assert explanation.top_nodes(0, 1)[0].keys() >= {"node", "total", "t4", "first_unseen_t"}


def test_an_explanation_is_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = pk.plotting.plot_explanation(detector().fit(TRAIN), NEW, graph=2)
    assert ax.figure.axes[1].get_ylabel() == "contribution to the rarity"
    plt.close(ax.figure)
