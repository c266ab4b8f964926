"""check_scheme: test any propagation scheme against the protocol."""

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
from propkernels.propagation.schemes import PropagationScheme

STEPS = 3


def check_scheme(scheme: PropagationScheme, random_state: int = 0) -> None:
    """Check a scheme against the protocol; raise an AssertionError that names the violation.

    The checks run on small generated graphs: weighted, directed, partly labeled, with isolated nodes, and one
    without nodes. The two methods exist; steps return finite numbers of the right shape and do not modify
    their inputs; the scheme keeps no state; graphs do not influence each other; the order of nodes does not
    matter; a scheme that declares itself affine is affine.

    Parameters
    ----------
    scheme : PropagationScheme
        Object with the methods ``prepare`` and ``step``, and ``affine = True`` if steps are affine.
    random_state : int
        Seed of the generated graphs.

    See Also
    --------
    propkernels.propagation.PropagationScheme : The base class; describes both methods.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.propagation.check_scheme(pk.propagation.Diffusion(laziness=0.5))
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
    """Return 5 random graphs with 0 to 9 nodes, weights 1 to 3, and missing labels."""
    parts = []
    for n in (1, 4, 0, 7, 9):
        weights = generator.integers(1, 4, (n, n)) * (generator.random((n, n)) < 0.4)
        weights[-1:], weights[:, -1:] = 0, 0
        matrix = weights if directed else np.triu(weights, 1) + np.triu(weights, 1).T
        parts.append((matrix, generator.integers(-1, 3, n)))
    return check_graphs(parts)


def _initial(graphs: GraphDatabase) -> InitialDistributions:
    """Return P_0 over the labels 0, 1, 2, in this order, even if some do not occur."""
    vocabulary = LabelColumn(np.empty(0, dtype=np.int32), (0, 1, 2))
    column = concat_labels([vocabulary, label_column(graphs, "node")])
    return initial_distributions(column, Prior(vocabulary.values, np.full(3, 1 / 3)))


def run(
    scheme: Any, graphs: GraphDatabase, columns: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return P_0, ..., P_STEPS stacked; ``columns`` replace P_0 if given."""
    initial = _initial(graphs)
    start = initial.to_dense() if columns is None else columns
    prepared, steps = scheme.prepare(graphs, initial), [start]
    for _ in range(STEPS):
        steps.append(np.asarray(scheme.step(prepared, steps[-1], start)))
    return np.stack(steps)


def _check_steps(scheme: Any, graphs: GraphDatabase) -> None:
    """Check that steps give finite numbers of the right shape, change no input, and are deterministic."""
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
    """Check that the scheme keeps no state: several threads run graphs through one scheme."""
    initial, other = _initial(graphs), graphs[::-1]
    start = initial.to_dense()
    reference = run(scheme, graphs)[1]
    prepared = scheme.prepare(graphs, initial)
    run(scheme, other)
    same = np.array_equal(np.asarray(scheme.step(prepared, start.copy(), start)), reference)
    assert same, "another run changed the result: keep the state of the steps in the return value of prepare"


def _check_separation(scheme: Any, graphs: GraphDatabase) -> None:
    """Check that a graph has the same distributions alone and among other graphs."""
    together = run(scheme, graphs)
    for i in range(len(graphs)):
        alone = run(scheme, graphs[[i]])
        nodes = slice(graphs.graph_ptr[i], graphs.graph_ptr[i + 1])
        same = alone.shape[2] == together.shape[2] and np.allclose(alone, together[:, nodes], atol=1e-12)
        assert same, f"graph {i} has other distributions among other graphs than alone"


def _check_node_order(scheme: Any, graphs: GraphDatabase, generator: np.random.Generator) -> None:
    """Check that permuting the nodes permutes the distributions."""
    for i, graph in enumerate(graphs):
        order = generator.permutation(graph.n_nodes)
        labels = None if graph.node_labels is None else graph.node_labels[order]
        shuffled = check_graphs([(graph.adjacency[order][:, order], labels)])
        same = np.allclose(run(scheme, shuffled), run(scheme, graph.database)[:, order], atol=1e-9)
        assert same, f"graph {i} has other distributions after its nodes are permuted"


def _check_affine(scheme: Any, graphs: GraphDatabase, generator: np.random.Generator) -> None:
    """Check that steps commute with a projection of the columns, as M P + B P_0 does."""
    vectors = generator.standard_normal((_initial(graphs).to_dense().shape[1], 2))
    projected = run(scheme, graphs, run(scheme, graphs)[0] @ vectors)
    same = np.allclose(projected, run(scheme, graphs) @ vectors, atol=1e-9)
    assert same, "the scheme declares itself affine, but a step does not commute with a projection"
