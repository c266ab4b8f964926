"""Diffusion and its variants against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.propagation import Diffusion
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges


def dense_step(adjacency, laziness, normalization):
    """The matrix M of P' = M P, as the documentation writes it."""
    a = adjacency.toarray()
    degrees, into = a.sum(axis=1), a.sum(axis=0)
    eye = np.eye(len(a))
    if normalization == "none":
        step = (a + laziness * eye) / 2
    else:
        scale = (
            degrees[:, None] * np.ones_like(a) if normalization == "row" else np.sqrt(np.outer(degrees, into))
        )
        walk = np.divide(a, scale, out=np.zeros_like(a), where=scale > 0)
        step = (1 - laziness) * walk + laziness * eye
    step[degrees == 0] = eye[degrees == 0]
    return step


def steps(graphs, scheme, start, t_max):
    prepared = scheme.prepare(graphs, None)
    history = [start]
    for _ in range(t_max):
        history.append(scheme.step(prepared, history[-1], start))
    return history


def deltas(graphs):
    column = graphs.label_column
    return (column.ids[:, None] == np.arange(len(column.values))).astype(float)


def turned(graphs, direction):
    forward = graphs.adjacency
    return {"follow": forward, "reverse": forward.T, "both": forward.maximum(forward.T)}[direction].tocsr()


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
@pytest.mark.parametrize("normalization", ["row", "symmetric", "none"])
@pytest.mark.parametrize("laziness", [0.0, 0.3])
def test_steps_on_the_zoo(laziness, normalization, direction):
    graphs = labelled_zoo()
    scheme = Diffusion(laziness=laziness, normalization=normalization, direction=direction)
    matrix = dense_step(turned(graphs, direction), laziness, normalization)
    reference = start = deltas(graphs)
    for computed in steps(graphs, scheme, start, 4):
        assert np.allclose(computed, reference, rtol=1e-12, atol=1e-300)
        reference = matrix @ reference


@pytest.mark.slow
@given(
    graphs=databases(weighted=True, directed=True),
    laziness=st.sampled_from([0.0, 0.5, 0.9]),
    normalization=st.sampled_from(["row", "symmetric", "none"]),
)
def test_steps_on_generated_graphs(graphs, laziness, normalization):
    scheme = Diffusion(laziness=laziness, normalization=normalization)
    matrix = dense_step(graphs.adjacency, laziness, normalization)
    start = deltas(graphs)
    computed = steps(graphs, scheme, start, 3)[-1]
    assert np.allclose(computed, matrix @ matrix @ matrix @ start, rtol=1e-10, atol=1e-300)


@pytest.mark.slow
@given(graphs=databases(weighted=True, directed=True), laziness=st.sampled_from([0.0, 0.5]))
def test_walks_keep_distributions(graphs, laziness):
    for computed in steps(graphs, Diffusion(laziness=laziness), deltas(graphs), 4):
        assert (computed >= 0).all()
        assert np.allclose(computed.sum(axis=1), 1)


def test_an_isolated_node_stays_or_vanishes():
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)], [0, 0, 1]), one(1, [], [1])])
    staying = pk.PropagationKernel(t_max=3, random_state=0).fit_transform(graphs)
    assert staying.tolist() == [[20, 4], [4, 4]]
    vanishing = pk.PropagationKernel(propagation=Diffusion(isolated="vanish"), t_max=3, random_state=0)
    assert vanishing.fit_transform(graphs).tolist() == [[17, 1], [1, 1]]
    assert vanishing.transform(graphs).tolist() == [[17, 1], [1, 1]]


def test_a_self_loop_is_an_edge_like_any_other():
    graphs = pk.GraphDatabase.concat([one(1, [(0, 0)], [3]), one(1, [], [3])])
    for isolated, reference in (("stay", [[4, 4], [4, 4]]), ("vanish", [[4, 1], [1, 1]])):
        kernel = pk.PropagationKernel(propagation=Diffusion(isolated=isolated), t_max=3, random_state=0)
        assert kernel.fit_transform(graphs).tolist() == reference


def test_summing_keeps_degrees_apart_where_the_walk_cannot():
    star, path = one(4, [(0, i) for i in (1, 2, 3)], [0] * 4), one(4, path_edges(4), [0] * 4)
    graphs = pk.GraphDatabase.concat([star, path])
    walk = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(graphs)
    assert (walk == walk[0, 0]).all()
    summed = pk.PropagationKernel(propagation=Diffusion(normalization="none"), t_max=2, random_state=0)
    kernel = summed.fit_transform(graphs)
    assert kernel[0, 1] < min(kernel[0, 0], kernel[1, 1])


def test_direction_matters_on_directed_graphs_only():
    for graphs, same in ((one(4, path_edges(4)), True), (one(4, path_edges(4), directed=True), False)):
        results = [
            pk.PropagationFeatures(propagation=Diffusion(direction=d), t_max=2, random_state=0)
            .fit_transform(graphs)
            .toarray()
            for d in ("follow", "reverse", "both")
        ]
        assert all(np.array_equal(result, results[0]) for result in results) == same


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"laziness": -0.1}, ValueError, "laziness .*-0.1"),
        ({"laziness": 1}, ValueError, "laziness .*got 1"),
        ({"laziness": "half"}, TypeError, "laziness .*'half'"),
        ({"laziness": True}, TypeError, "laziness .*True"),
        ({"normalization": "column"}, ValueError, "normalization .*'column'"),
        ({"isolated": "drop"}, ValueError, "isolated .*'drop'"),
        ({"direction": "up"}, ValueError, "direction .*'up'"),
    ],
)
def test_bad_parameters(parameters, error, message):
    kernel = pk.PropagationKernel(propagation=Diffusion(**parameters))
    with pytest.raises(error, match=message):
        kernel.fit(labelled_zoo())
    assert [name for name in vars(kernel) if name.endswith("_")] == []
