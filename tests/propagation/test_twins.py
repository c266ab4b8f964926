"""Steps of every affine scheme against dense matrices, written from the formulas of the papers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import propkernels as pk
from propkernels.propagation import (
    AbsorbingWalk,
    Diffusion,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
)
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import one

DIRECTIONS = ("follow", "reverse", "both")


def carries(graphs, *labels):
    column = graphs.label_column
    return np.array([i >= 0 and column.values[i] in labels for i in column.ids])


def first_node_of_each(graphs):
    mask = np.zeros(graphs.n_nodes, dtype=bool)
    mask[graphs.graph_ptr[:-1][graphs.graph_sizes > 0]] = True
    return mask


def diffusion(**options):
    return Diffusion(**options), lambda start, graphs: dense.diffusion(start, **options)


def absorbing(given, held, **options):
    scheme = AbsorbingWalk(given, **options)
    return scheme, lambda start, graphs: dense.absorbing_walk(start, held(graphs), **options)


def twins():
    """Pairs of a scheme and its dense step, by name."""
    pairs = {}
    for way in DIRECTIONS:
        for normalization in ("row", "symmetric", "none"):
            for laziness in (0.0, 0.3):
                options = {"laziness": laziness, "normalization": normalization, "direction": way}
                pairs[f"diffusion {options.values()}"] = diffusion(**options)
        for clamp in ("after", "before"):
            pairs[f"label propagation {clamp} {way}"] = (
                LabelPropagation(clamp, direction=way),
                lambda start, graphs, clamp=clamp, way=way: dense.label_propagation(start, clamp, way),
            )
        for alpha in (0.0, 0.5, 0.99):
            pairs[f"label spreading {alpha} {way}"] = (
                LabelSpreading(alpha, direction=way),
                lambda start, graphs, alpha=alpha, way=way: dense.label_spreading(start, alpha, way),
            )
        pairs[f"observed {way}"] = absorbing("observed", lambda g: g.label_column.observed, direction=way)
        pairs[f"labels {way}"] = absorbing({0, 2}, lambda g: carries(g, 0, 2), direction=way)
    pairs["labels of another type"] = absorbing([np.float32(1.0)], lambda g: carries(g, 1))
    pairs["no labels"] = absorbing((), carries)
    pairs["absorbed sometimes"] = (
        AbsorbingWalk(alpha=0.75),
        lambda start, graphs: dense.partial_absorption(start, 0.75 * start.observed),
    )
    pairs["function"] = absorbing(first_node_of_each, first_node_of_each)
    rates = ({}, {"alpha": 0.0}, {"alpha": 0.9}, {"rate": 1.0}, {"rate": 0.01}, {"rate": 2.5})
    for options in (*rates, {"rate": 2.5, "direction": "both"}):
        pairs[f"partial absorption {options}"] = (
            PartialAbsorption(**options),
            lambda start, graphs, options=options: dense.partial_absorption(start, **options),
        )
    return pairs


TWINS = twins()


def check(name, graphs):
    scheme, step = TWINS[name]
    start = dense.start(graphs)
    reference = dense.dense_history(step(start, graphs), start.distributions, 4)
    computed = dense.library_history(graphs, scheme, 4)
    np.testing.assert_allclose(computed, reference, rtol=1e-10, atol=1e-12)
    if not isinstance(scheme, LabelSpreading) and getattr(scheme, "normalization", "row") == "row":
        assert (computed >= 0).all()
        np.testing.assert_allclose(computed.sum(axis=2), 1)


@pytest.mark.parametrize("name", TWINS)
def test_dense_twin_on_the_zoo(name):
    check(name, dense.partial_zoo())


def test_an_isolated_node_stays_or_vanishes():
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)], [0, 0, 1]), one(1, [], [1])])
    staying = pk.PropagationKernel(t_max=3, random_state=0).fit_transform(graphs)
    assert staying.tolist() == [[20, 4], [4, 4]]
    vanishing = pk.PropagationKernel(propagation=Diffusion(isolated="vanish"), t_max=3, random_state=0)
    assert vanishing.fit_transform(graphs).tolist() == [[17, 1], [1, 1]]
    assert vanishing.transform(graphs).tolist() == [[17, 1], [1, 1]]


@pytest.mark.slow
@settings(max_examples=200)
@given(
    graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3),
    name=st.sampled_from(sorted(TWINS)),
)
def test_dense_twin_on_generated_graphs(graphs, name):
    if graphs.label_values:
        check(name, graphs)
