"""Kernels that are tried when the user names none.

Each list is short, and every kernel in it has won somewhere: cross-validation decides. Counts are compared as
dot products and by histogram intersection, which is the optimal assignment of nodes to nodes with the same
code (for Weisfeiler-Lehman colors: Kriege, Giscard and Wilson 2016), and by the ratio of what two graphs
share to all that they have (Jaccard; Ralaivola, Swamidass, Saigo and Baldi 2005), which does not grow with
their sizes.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.kernels.shortest_path import ShortestPath
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.propagation.schemes import Diffusion

MANY_DIMENSIONS = 4  # of attributes; with fewer, agreeing in all of them tells less than in one at a time
HASHES = 20  # of attributes per iteration: more make the kernel less random, and slower
MOST_PAIRS = 100  # of nodes, per node: shortest paths of larger graphs take too long for a default
RATIO: dict[str, Any] = {"base_kernel": "jaccard"}
MOST_FOR_PRODUCTS = 2000  # labeled graphs; with more, no time is spent on plain dot products of classes
WIDE = {"bin_width": 1.0, "n_hashes": 4}  # nodes that are nearly alike share bins


def default_kernels(graphs: Any, n_jobs: int | None = None, is_regression: bool = False) -> list[Any]:
    """Candidates by what the graphs carry.

    Parameters
    ----------
    graphs : GraphDatabase or GridDatabase
    n_jobs : int or None
        Threads of each kernel.
    is_regression : bool
        Whether numbers are predicted: the lists are other ones.

    Returns
    -------
    list of estimators
    """
    if graphs.node_attributes is not None:
        kernels = _attributed(graphs)
    elif not isinstance(graphs, GraphDatabase):
        kernels = [PropagationKernel(), PropagationKernel(base_kernel="intersection")]
    elif graphs.label_column is None:
        kernels = _unlabeled()
    elif not bool(graphs.label_column.observed.all()):
        kernels = _partially_labeled()
    elif has_views(graphs.label_column):
        kernels = _by_entry(graphs, is_regression)
    else:
        kernels = _labeled(graphs, is_regression)
    return [kernel.set_params(n_jobs=n_jobs) for kernel in kernels]


def _labeled(graphs: GraphDatabase, is_regression: bool) -> list[Any]:
    """Summed neighbors, which keep degrees apart, and exact refinement of the labels.

    Where edges have labels, the same with them, and the labels along shortest paths. Few graphs are also
    compared by dot products of counts and, where edges have no labels, by the paper's walk.
    """
    assigned: dict[str, Any] = {"base_kernel": "intersection"}
    kernels: list[Any] = [
        PropagationKernel(propagation=_summed(), **assigned, t_max=8),
        WeisfeilerLehman(t_max=6, **assigned),
    ]
    has_bonds = graphs.edge_label_column is not None
    if is_regression or len(graphs) <= MOST_FOR_PRODUCTS:
        kernels.insert(0, PropagationKernel(propagation=_summed()))
        kernels += [] if is_regression or has_bonds else [PropagationKernel(), WeisfeilerLehman(t_max=6)]
    kernels += _edge_labeled(graphs) if has_bonds else []
    return kernels + _ratios(is_regression, has_bonds)


def _ratios(is_regression: bool, has_bonds: bool) -> list[Any]:
    """What two labeled graphs share, of all they have; numbers are predicted from summed neighbors alone."""
    summed: dict[str, Any] = {"propagation": _summed()}
    if is_regression:
        ratios = ("tanimoto", "jaccard")
        return [PropagationKernel(**summed, base_kernel=ratio, t_max=5) for ratio in ratios]
    kernels = [PropagationKernel(**summed, **RATIO, t_max=6), WeisfeilerLehman(t_max=6, **RATIO)]
    return [*kernels, WeisfeilerLehman(t_max=4, **RATIO, edge_labels=True)] if has_bonds else kernels


def _edge_labeled(graphs: GraphDatabase) -> list[Any]:
    """What arrives over edges told apart by their labels, and the labels along paths of small graphs."""
    common: dict[str, Any] = {"base_kernel": "intersection", "edge_labels": True}
    kernels: list[Any] = [
        PropagationKernel(propagation=_summed(), **common, t_max=5),
        WeisfeilerLehman(t_max=4, **common),
    ]
    pairs = float(np.square(graphs.graph_sizes, dtype=np.float64).sum())
    return kernels if pairs > MOST_PAIRS * graphs.n_nodes else [*kernels, ShortestPath(**common)]


def _by_entry(graphs: GraphDatabase, is_regression: bool) -> list[Any]:
    """Labels that hold several views of a node, such as those of atoms: all side by side, or the first.

    On scaffolds of MoleculeNet, symbols, invariants and roles of atoms together predicted classes better than
    any of them alone, and symbols alone the numbers of small sets. See docs/MOLECULES.md.
    """
    common: dict[str, Any] = {"t_max": 3, "edge_labels": graphs.edge_label_column is not None}
    assigned: dict[str, Any] = {"base_kernel": "intersection"} | common
    kernels = [
        WeisfeilerLehman(labels="entries", **assigned),
        WeisfeilerLehman(labels=0, **assigned),
        WeisfeilerLehman(labels="entries", **RATIO, **common),
    ]
    return [*kernels, WeisfeilerLehman(labels=0, **RATIO, **common)] if is_regression else kernels


def has_views(column: Any) -> bool:
    """Whether labels are tuples of several labels: of one length, and not of numbers."""
    values = getattr(column, "present", ())
    lengths = {len(value) if isinstance(value, tuple) else 0 for value in values}
    return len(lengths) == 1 and min(lengths) > 1 and not _hold_numbers(values)


def _hold_numbers(values: Any) -> bool:
    return any(isinstance(entry, numbers.Number) for value in values for entry in value)


def _unlabeled() -> list[Any]:
    """Degrees, as they are and by their order of magnitude; the latter in wide bins (social networks)."""
    wide: dict[str, Any] = {"base_kernel": "intersection", "t_max": 5, **WIDE}
    return [
        PropagationKernel(t_max=5),
        PropagationKernel(t_max=5, base_kernel="intersection"),
        PropagationKernel(labels="log_degree", propagation=Diffusion(0.0, "none"), **wide),
        WeisfeilerLehman(t_max=4, base_kernel="intersection"),
    ]


def _partially_labeled() -> list[Any]:
    """Label propagation; and uncertain labels, diffused and compared in wide bins.

    Label propagation pushes the observed labels back at every step, so that nodes are told apart by where
    the missing labels are. Diffusion starts unobserved nodes with the frequencies of all labels instead.
    """
    wide: dict[str, Any] = {"prior": "frequency", "base_kernel": "intersection", **WIDE}
    return [
        PropagationKernel(),
        PropagationKernel(base_kernel="intersection", t_max=5),
        PropagationKernel(propagation=_summed(), prior="frequency", base_kernel="intersection", t_max=5),
        PropagationKernel(propagation=_summed(), t_max=6, **wide),
        WeisfeilerLehman(t_max=4, base_kernel="intersection"),
    ]


def _attributed(graphs: Any) -> list[Any]:
    """One dimension at a time, with about twenty hashes per iteration in all; many dimensions also together.

    Two nodes seldom agree in all of many dimensions, so that these have more hashes, and wide bins.
    """
    n_dimensions = graphs.node_attributes.shape[1]
    n_hashes = max(1, HASHES // max(n_dimensions, 1))
    single: dict[str, Any] = {"attributes": "sum", "n_hashes": n_hashes, "t_max": 5}
    together: dict[str, Any] = {
        "attributes": "product",
        "n_hashes": 2 * HASHES,
        "base_kernel": "intersection",
    }
    kernels: list[Any] = [
        PropagationKernel(**single),
        PropagationKernel(**single, base_kernel="intersection"),
    ]
    if n_dimensions >= MANY_DIMENSIONS:
        widths = (4.0, 8.0)
        kernels += [PropagationKernel(**together, attribute_bin_width=width, t_max=2) for width in widths]
    if isinstance(graphs, GraphDatabase):
        kernels.append(WeisfeilerLehman(t_max=4, base_kernel="intersection"))
        kernels += [PropagationKernel(**single, **RATIO), WeisfeilerLehman(t_max=4, **RATIO)]
    return kernels


def _summed() -> Diffusion:
    return Diffusion(laziness=0.5, normalization="none")


def check_kernels(kernel: Any, graphs: Any, n_jobs: int | None, is_regression: bool = False) -> list[Any]:
    """Return the candidates that the parameter ``kernel`` stands for: one, several, or the defaults."""
    if kernel is None:
        return default_kernels(graphs, n_jobs, is_regression)
    several = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    if not several:
        raise ValueError("kernel must be one estimator or a list of at least one, got an empty list")
    for candidate in several:
        if isinstance(candidate, type) or not hasattr(candidate, "fit_transform"):
            raise TypeError(f"kernel must be an estimator with fit_transform, got {shown(candidate)}")
    return several
