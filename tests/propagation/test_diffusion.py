"""Diffusion and its variants against dense matrices."""

from __future__ import annotations

import propkernels as pk
from propkernels.propagation import Diffusion
from tests.zoo import one, path_edges


def test_an_isolated_node_stays_or_vanishes():
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)], [0, 0, 1]), one(1, [], [1])])
    staying = pk.PropagationKernel(t_max=3, random_state=0).fit_transform(graphs)
    assert staying.tolist() == [[20, 4], [4, 4]]
    vanishing = pk.PropagationKernel(propagation=Diffusion(isolated="vanish"), t_max=3, random_state=0)
    assert vanishing.fit_transform(graphs).tolist() == [[17, 1], [1, 1]]
    assert vanishing.transform(graphs).tolist() == [[17, 1], [1, 1]]


def test_summing_keeps_degrees_apart_where_the_walk_cannot():
    star, path = one(4, [(0, i) for i in (1, 2, 3)], [0] * 4), one(4, path_edges(4), [0] * 4)
    graphs = pk.GraphDatabase.concat([star, path])
    walk = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(graphs)
    assert (walk == walk[0, 0]).all()
    summed = pk.PropagationKernel(propagation=Diffusion(normalization="none"), t_max=2, random_state=0)
    kernel = summed.fit_transform(graphs)
    assert kernel[0, 1] < min(kernel[0, 0], kernel[1, 1])
