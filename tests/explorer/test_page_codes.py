"""page_codes: models that a page cannot compute."""

import numpy as np
import pytest
from scipy.sparse import coo_array

import propkernels as pk
from propkernels.explorer.page_codes import NotLive, goes_both_ways, start_values
from propkernels.kernels import GraphHopper
from propkernels.propagation import AbsorbingWalk

REFUSED = {
    "base kernel": (pk.PropagationKernel(base_kernel="rbf"), "without counting bins"),
    "edge weights": (pk.WeisfeilerLehman(edge_weights=True), "weights"),
    "square roots": (pk.PropagationKernel(metric="hellinger"), "square roots"),
    "scheme": (pk.PropagationKernel(propagation="belief_propagation"), "BeliefPropagation"),
    "absorption by a function": (
        pk.PropagationKernel(propagation=AbsorbingWalk(lambda graphs: graphs.degrees > 2)),
        "AbsorbingWalk",
    ),
    "pairs of graphs": (GraphHopper(), "GraphHopper|HopCounter|code function"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_page_cannot_compute_is_refused_in_a_sentence(data, name):
    kernel, reason = REFUSED[name]
    model = pk.PropagationClassifier(kernel=kernel, C=1, t_max=None, random_state=0)
    model.fit(data.graphs, data.target)
    with pytest.raises(NotLive, match=reason) as refused:
        pk.explore(data.graphs, data.target, model)
    assert "it can show models of Weisfeiler-Lehman" in str(refused.value)
    assert str(refused.value).startswith("a page cannot show this PropagationClassifier: ")


def test_degrees_that_edits_may_reach_are_initial_labels():
    star = pk.check_graphs([np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])])
    assert start_values("degree", star) == tuple(range(2 * 2 + 64))
    assert start_values(None, star) == (0,)
    with pytest.raises(NotLive, match="node labels are missing"):
        start_values("node", star)
    assert start_values("degree", star.with_weights(np.full(4, 0.5))) == tuple(range(2 * 2 + 64))
    edges = np.array([[0, 0, 1, 1], [1, 1, 0, 0]])
    double = pk.GraphDatabase(coo_array((np.ones(4), edges)), [0, 2], edge_labels=["-", "=", "-", "="])
    with pytest.raises(NotLive, match="parallel edges"):
        start_values("degree", double)


def test_symmetric_edges_go_both_ways():
    path = np.array([[0, 1], [1, 0]])
    assert goes_both_ways(pk.check_graphs([path]))
    assert not goes_both_ways(pk.check_graphs([np.triu(path)]))
