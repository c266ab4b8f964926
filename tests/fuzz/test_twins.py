"""Kernels beside the slow second implementations of tests, written from the papers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import AttributeKernel, GraphHopper, LabelHistogram, SubgraphMatching
from propkernels.propagation import Diffusion, LabelPropagation
from tests import naive
from tests.fuzz.cases import Generator, run_cases, same, try_to
from tests.fuzz.graphs import Plain, database, random_graphs
from tests.naive_baselines import (
    attribute_kernel,
    gram_of,
    graph_hopper_kernel,
    node_kernel,
    plain_graphs,
    shortest_path_kernel,
    subgraph_matching,
    subtree_kernels,
)

NARROW = 1e-9  # so narrow that two different distributions meet in one bin in no case of a million


def diffusion(graphs: pk.GraphDatabase, rng: Generator) -> None:
    kernel = pk.PropagationKernel(bin_width=NARROW, t_max=3, random_state=0, propagation="diffusion")
    same(kernel.fit_transform_cumulative(graphs), naive.propagation_kernels(graphs, 3), "exact diffusion")


def lazy_diffusion(graphs: pk.GraphDatabase, rng: Generator) -> None:
    scheme = Diffusion(laziness=0.5)
    kernel = pk.PropagationKernel(bin_width=NARROW, t_max=3, random_state=0, propagation=scheme)
    expected = naive.propagation_kernels(graphs, 3, laziness=Fraction(1, 2))
    same(kernel.fit_transform_cumulative(graphs), expected, "exact lazy diffusion")


def label_propagation(graphs: pk.GraphDatabase, rng: Generator) -> None:
    hidden = rng.random(graphs.n_nodes) < 0.4
    graphs = graphs.with_labels(np.where(hidden, None, np.asarray(graphs.node_labels, dtype=object)))
    clamp = ("after", "before")[rng.integers(2)]
    scheme = LabelPropagation(clamp)
    if not len(graphs.label_values):
        return
    kernel = pk.PropagationKernel(bin_width=NARROW, t_max=3, random_state=0, propagation=scheme)
    expected = naive.propagation_kernels(graphs, 3, clamp=clamp)
    same(kernel.fit_transform_cumulative(graphs), expected, f"exact label propagation, {clamp}")


def weisfeiler_lehman(graphs: pk.GraphDatabase, rng: Generator) -> None:
    expected = subtree_kernels(plain_graphs(graphs), 3)
    same(pk.WeisfeilerLehman(t_max=3).fit_transform_cumulative(graphs), expected, "subtrees")


def label_histogram(graphs: pk.GraphDatabase, rng: Generator) -> None:
    same(LabelHistogram().fit_transform(graphs), subtree_kernels(plain_graphs(graphs), 0)[0], "histogram")


def shortest_path(graphs: pk.GraphDatabase, rng: Generator) -> None:
    weighted = graphs.is_unweighted
    expected = gram_of(
        lambda a, b: shortest_path_kernel(a, b, node_kernel(True, None), weighted), plain_graphs(graphs)
    )
    same(pk.ShortestPath(weighted=weighted).fit_transform(graphs), expected, "shortest paths")


def graph_hopper(graphs: pk.GraphDatabase, rng: Generator) -> None:
    expected = gram_of(
        lambda a, b: graph_hopper_kernel(a, b, node_kernel(True, None), False), plain_graphs(graphs)
    )
    same(GraphHopper(weighted=False).fit_transform(graphs), expected, "paths, node by node")


def subgraphs(graphs: pk.GraphDatabase, rng: Generator) -> None:
    connected = bool(rng.integers(2))
    plain = plain_graphs(graphs)

    def kernel(a: object, b: object) -> float:
        return sum(subgraph_matching(a, b, 3, node_kernel(True, None), connected=connected))

    computed = SubgraphMatching(k=3, connected=connected).fit_transform(graphs)
    same(computed, gram_of(kernel, plain), f"common subgraphs, connected={connected}")


def attributes(graphs: pk.GraphDatabase, rng: Generator) -> None:
    values = np.round(rng.normal(size=(graphs.n_nodes, 2)), 2)
    graphs = graphs.with_attributes(values)
    kind = ("gaussian", "linear", "truncated")[rng.integers(3)]
    nodes = node_kernel(False, kind, 0.5)
    expected = gram_of(lambda a, b: attribute_kernel(a, b, nodes), plain_graphs(graphs))
    kernel = AttributeKernel(attributes=kind, gamma=0.5, standardize=False)
    same(try_to(lambda: kernel.fit_transform(graphs)), expected, f"attributes, {kind}")


def labelled(graph: Plain) -> Plain:
    """With an observed integer label at every node, and no attributes; small, since twins are slow."""
    while graph.n > 5:
        graph = graph.without_node(graph.n - 1)
    own = graph.labels or (0,) * graph.n
    labels = tuple(label if isinstance(label, int) and label >= 0 else 9 for label in own)
    return replace(moderate(graph), labels=labels, attributes=None)


def moderate(graph: Plain) -> Plain:
    """Weights between 0.1 and 10, others replaced by 1: shares of a millionth differ by less than a bin."""
    edges = tuple((i, j, w if 0.1 <= w <= 10.0 else 1.0) for i, j, w in graph.edges)
    return replace(graph, edges=edges)


TWINS = (
    diffusion,
    lazy_diffusion,
    label_propagation,
    weisfeiler_lehman,
    label_histogram,
    shortest_path,
    graph_hopper,
    subgraphs,
    attributes,
)


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_kernels_equal_their_slow_twins(twin):
    def check(rng: Generator) -> None:
        twin(database([labelled(graph) for graph in random_graphs(rng, int(rng.integers(1, 4)))]), rng)

    run_cases(check, 10)
