"""The contract of propagation schemes, as a check that any scheme can be run through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.label_distributions import concat_labels
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.initial import (
    InitialDistributions,
    Prior,
    initial_distributions,
    label_column,
)

STEPS = 3


def check_scheme(scheme: Any, random_state: int = 0) -> None:
    """Run a scheme through what the engine relies on; raise an AssertionError that says what it breaks.

    Checked on small generated graphs, weighted, directed, partly labeled, with isolated nodes and one
    without nodes: there are the two methods; steps return finite numbers of the right shape and leave their
    inputs alone; nothing is kept on the scheme itself; graphs do not influence each other; the order of nodes
    does not matter; a scheme that calls itself affine is.

    Parameters
    ----------
    scheme : PropagationScheme
        Anything with ``prepare`` and ``step``, and ``affine`` where it is.
    random_state : int
        Seed of the generated graphs.

    See Also
    --------
    PropagationScheme : The base class, and what the methods get.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.check_scheme(pk.Diffusion(laziness=0.5))
    """
    for method in ("prepare", "step"):
        assert callable(getattr(scheme, method, None)), f"the scheme has no method {method}"
    generator = np.random.default_rng(random_state)
    for directed in (False, True):
        graphs = _graphs(generator, directed)
        _check_steps(scheme, graphs)
        _check_no_memory(scheme, graphs)
        _check_separation(scheme, graphs)
        _check_node_order(scheme, graphs, generator)
        if getattr(scheme, "affine", False):
            _check_affine(scheme, graphs, generator)


def _graphs(generator: np.random.Generator, directed: bool) -> GraphDatabase:
    parts = []
    for n in (1, 4, 0, 7, 9):
        weights = generator.integers(1, 4, (n, n)) * (generator.random((n, n)) < 0.4)
        weights[-1:], weights[:, -1:] = 0, 0
        matrix = weights if directed else np.triu(weights, 1) + np.triu(weights, 1).T
        parts.append((matrix, generator.integers(-1, 3, n)))
    return check_graphs(parts)


def _initial(graphs: GraphDatabase) -> InitialDistributions:
    """P_0 over the labels 0, 1, 2, in this order whichever of them occur."""
    every = LabelColumn(np.empty(0, dtype=np.int32), (0, 1, 2))
    column = concat_labels([every, label_column(graphs, "node")])
    return initial_distributions(column, Prior(every.values, np.full(3, 1 / 3)))


def run(
    scheme: Any, graphs: GraphDatabase, columns: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return P_0, ..., P_STEPS stacked; of other columns than P_0's if some are given."""
    initial = _initial(graphs)
    start = initial.to_dense() if columns is None else columns
    prepared, steps = scheme.prepare(graphs, initial), [start]
    for _ in range(STEPS):
        steps.append(np.asarray(scheme.step(prepared, steps[-1], start)))
    return np.stack(steps)


def _check_steps(scheme: Any, graphs: GraphDatabase) -> None:
    initial = _initial(graphs)
    start = initial.to_dense()
    current = start.copy()
    following = np.asarray(scheme.step(scheme.prepare(graphs, initial), current, start))
    assert following.shape == start.shape, f"step returned shape {following.shape} for {start.shape}"
    assert np.isfinite(following).all(), "step returned numbers that are not finite"
    unchanged = np.array_equal(current, start) and np.array_equal(start, initial.to_dense())
    assert unchanged, "step changed the arrays that it was given"
    assert np.array_equal(run(scheme, graphs), run(scheme, graphs)), "two runs gave different results"


def _check_no_memory(scheme: Any, graphs: GraphDatabase) -> None:
    """Runs of graphs take turns in several threads, on one scheme."""
    initial, other = _initial(graphs), graphs[::-1]
    start = initial.to_dense()
    reference = run(scheme, graphs)[1]
    prepared = scheme.prepare(graphs, initial)
    run(scheme, other)
    same = np.array_equal(np.asarray(scheme.step(prepared, start.copy(), start)), reference)
    assert same, "another run changed the result: keep what the steps need in what prepare returns"


def _check_separation(scheme: Any, graphs: GraphDatabase) -> None:
    together = run(scheme, graphs)
    for i in range(len(graphs)):
        alone = run(scheme, graphs[[i]])
        nodes = slice(graphs.graph_ptr[i], graphs.graph_ptr[i + 1])
        same = alone.shape[2] == together.shape[2] and np.allclose(alone, together[:, nodes], atol=1e-12)
        assert same, f"graph {i} came out differently beside other graphs than alone"


def _check_node_order(scheme: Any, graphs: GraphDatabase, generator: np.random.Generator) -> None:
    for i, graph in enumerate(graphs):
        order = generator.permutation(graph.n_nodes)
        labels = None if graph.node_labels is None else graph.node_labels[order]
        shuffled = check_graphs([(graph.adjacency[order][:, order], labels)])
        same = np.allclose(run(scheme, shuffled), run(scheme, graph.database)[:, order], atol=1e-9)
        assert same, f"graph {i} came out differently with its nodes in another order"


def _check_affine(scheme: Any, graphs: GraphDatabase, generator: np.random.Generator) -> None:
    """M P + B P_0 commutes with any projection of the columns."""
    vectors = generator.standard_normal((_initial(graphs).to_dense().shape[1], 2))
    projected = run(scheme, graphs, run(scheme, graphs)[0] @ vectors)
    same = np.allclose(projected, run(scheme, graphs) @ vectors, atol=1e-9)
    assert same, "the scheme calls itself affine, but a step does not commute with a projection"
