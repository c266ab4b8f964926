"""Default kernels: the candidates if the user gives none.

Lists are short, each kernel is the best on some data set, and leave-one-out decides. Counts are compared
by dot products; by histogram intersection, the optimal assignment of nodes to nodes with the same code (for
Weisfeiler-Lehman colors: Kriege, Giscard and Wilson 2016); and by the ratio of intersection to union
(Jaccard; Ralaivola, Swamidass, Saigo and Baldi 2005), which does not grow with the sizes of graphs.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import clone

from propkernels._utils.checks import shown
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, number_of_entries
from propkernels.kernels.descriptor_kernel import DescriptorKernel
from propkernels.kernels.neighborhoods import named_kernel
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.kernels.shortest_path import ShortestPath
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.models.solvers import LANDMARKS, has_explicit_counts, landmark_count
from propkernels.propagation.schemes import Diffusion

MANY_DIMENSIONS = 4  # of attributes, from which on they are also hashed together
HASHES = 20  # of attributes per iteration: more hashes reduce variance and cost time
MOST_PAIRS = 100  # of nodes, per node: limit for shortest paths by default
RATIO: dict[str, Any] = {"base_kernel": "jaccard"}
MOST_FOR_PRODUCTS = 2000  # labeled graphs; with more, classifiers skip plain dot products
ENTRY_STEPS = 3  # t_max where labels have several entries
WIDE = {"bin_width": 1.0, "n_hashes": 4}  # similar nodes share bins


def default_kernels(graphs: Any, is_regression: bool = False, is_linear: bool = False) -> list[Any]:
    """Return the candidate kernels for graphs, depending on their labels and attributes.

    Parameters
    ----------
    graphs : GraphDatabase or GridDatabase
    is_regression : bool
        Whether to predict numbers, which has its own lists.
    is_linear : bool
        Whether only dot products of counts can be used.

    Returns
    -------
    list of estimators
    """
    if getattr(graphs, "is_temporal", False):
        kernels = _in_time()
    elif graphs.node_attributes is not None:
        kernels = _attributed(graphs)
    elif not isinstance(graphs, GraphDatabase):
        kernels = [PropagationKernel(), PropagationKernel(base_kernel="intersection")]
    elif graphs.label_column is None:
        kernels = _unlabeled()
    elif not bool(graphs.label_column.observed.all()):
        kernels = _partially_labeled()
    elif has_views(graphs.label_column):
        kernels = _by_entry(graphs, is_regression, is_linear)
    else:
        kernels = _labeled(graphs, is_regression)
    if getattr(graphs, "descriptors", None) is not None:
        kernels += _described(kernels)
    if is_linear:
        kernels = [kernel for kernel in kernels if has_explicit_counts(kernel)]
    return kernels


def default_steps(kernels: list[Any]) -> tuple[int, ...] | None:
    """Return the candidates for t_max if the user gives neither kernel nor t_max; None: all of each kernel.

    Classes of graphs whose labels have several entries, such as molecules, have one: folds at random prefer
    small neighborhoods, which many molecules of a series share, and which tell less about new scaffolds.
    """
    first = kernels[0]
    is_ratio = getattr(first, "base_kernel", None) == RATIO["base_kernel"]
    return (ENTRY_STEPS,) if is_ratio and getattr(first, "labels", None) == "entries" else None


def prefers_landmarks(graphs: Any) -> bool:
    """Return whether classes of many graphs are learned from landmarks rather than by linear machines.

    Those of graphs whose labels have several entries are, if all landmarks fit in memory: on folds by
    scaffold within the training molecules of HIV, rankings were better. See docs/measured/scaffolds.md.
    """
    column = getattr(graphs, "label_column", None)
    is_plain = graphs.node_attributes is None and not getattr(graphs, "is_temporal", False)
    is_labeled = is_plain and isinstance(column, LabelColumn) and bool(column.observed.all())
    return is_labeled and has_views(column) and landmark_count(len(graphs)) == LANDMARKS


def _described(kernels: list[Any]) -> list[Any]:
    """Sums of a kernel of nodes, a ratio of counts where there is one, and of a kernel of descriptors."""
    shares = (0.3, 0.5)
    ratios = (kernel for kernel in kernels if getattr(kernel, "base_kernel", None) == RATIO["base_kernel"])
    parts = [next(ratios, kernels[-1]), DescriptorKernel()]
    return [SumKernel([clone(part) for part in parts], weights=[1 - share, share]) for share in shares]


def _labeled(graphs: GraphDatabase, is_regression: bool) -> list[Any]:
    """Kernels for labeled graphs: sums over neighbors, which keep degrees apart, and refinement of labels.

    If edges have labels, also the same with edge labels, and labels along shortest paths. Small data sets add
    dot products of counts and, without edge labels, the paper's random walk.
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
    """Ratio kernels for labeled graphs; regression uses sums over neighbors only."""
    summed: dict[str, Any] = {"propagation": _summed()}
    if is_regression:
        ratios = ("tanimoto", "jaccard")
        return [PropagationKernel(**summed, base_kernel=ratio, t_max=5) for ratio in ratios]
    kernels = [PropagationKernel(**summed, **RATIO, t_max=6), WeisfeilerLehman(t_max=6, **RATIO)]
    return [*kernels, WeisfeilerLehman(t_max=4, **RATIO, edge_labels=True)] if has_bonds else kernels


def _edge_labeled(graphs: GraphDatabase) -> list[Any]:
    """Kernels that use edge labels, and shortest paths for small graphs."""
    common: dict[str, Any] = {"base_kernel": "intersection", "edge_labels": True}
    kernels: list[Any] = [
        PropagationKernel(propagation=_summed(), **common, t_max=5),
        WeisfeilerLehman(t_max=4, **common),
    ]
    return [*kernels, ShortestPath(**common)] if _has_few_pairs(graphs) else kernels


def _has_few_pairs(graphs: GraphDatabase) -> bool:
    """Return whether graphs are small enough for shortest paths by default."""
    pairs = float(np.square(graphs.graph_sizes, dtype=np.float64).sum())
    return pairs <= MOST_PAIRS * graphs.n_nodes


def _in_time() -> list[Any]:
    """Kernels for graphs in time: forwards in time, in both directions, and without time."""
    assigned: dict[str, Any] = {"base_kernel": "intersection"}
    return [
        WeisfeilerLehman(t_max=5, time="both"),
        WeisfeilerLehman(t_max=5, time="both", **assigned),
        WeisfeilerLehman(t_max=5, time="forward", **assigned),
        PropagationKernel(t_max=6, time="both", **assigned),
        PropagationKernel(t_max=6, time="forward", **assigned),
        WeisfeilerLehman(t_max=5, time="static", **assigned),
    ]


def _by_entry(graphs: GraphDatabase, is_regression: bool, is_linear: bool) -> list[Any]:
    """Kernels for labels with several entries, such as those of atoms: all entries, or the first.

    Classes take the ratio of counts of all entries alone. On folds by scaffold within training
    molecules of MoleculeNet, a choice among more kernels and sums of them was not better. See
    docs/measured/scaffolds.md.
    """
    common: dict[str, Any] = {"t_max": ENTRY_STEPS, "edge_labels": graphs.edge_label_column is not None}
    assigned: dict[str, Any] = {"base_kernel": "intersection"} | common
    ratio = WeisfeilerLehman(labels="entries", **RATIO, **common)
    if not is_regression and not is_linear:
        return [ratio]
    kernels = [WeisfeilerLehman(labels=labels, **assigned) for labels in ("entries", 0)]
    if not is_regression:
        return kernels
    paths = [_with_paths([*kernels, ratio], graphs.label_column)] if _has_few_pairs(graphs) else []
    return [*kernels, ratio, WeisfeilerLehman(labels=0, **RATIO, **common), *paths]


def _with_paths(kernels: list[Any], column: Any) -> SumKernel:
    """Sum of kernels of all entries, by ratios and by smaller counts, and of paths between fine entries.

    Shortest paths tell where groups are that lie farther apart than neighborhoods reach. Within the training
    parts of four targets of MoleculeACE, the sum had a smaller error than each of its parts.
    """
    entries = range(1, number_of_entries(column))
    paths = [ShortestPath(labels=entry, base_kernel="intersection") for entry in entries]
    parts = [clone(kernels[2]), clone(kernels[0]), *paths]
    return SumKernel(parts, weights=[0.3, 0.3, *(0.4 / len(paths) for _ in paths)])


def has_views(column: Any) -> bool:
    """Whether labels are tuples of one length greater than 1, and not of numbers."""
    values = getattr(column, "present", ())
    lengths = {len(value) if isinstance(value, tuple) else 0 for value in values}
    if len(lengths) != 1 or min(lengths) < 2:
        return False
    return not any(isinstance(entry, numbers.Number) for value in values for entry in value)


def _unlabeled() -> list[Any]:
    """Kernels on degrees, and on their order of magnitude in wide bins (social networks)."""
    wide: dict[str, Any] = {"base_kernel": "intersection", "t_max": 5, **WIDE}
    return [
        PropagationKernel(t_max=5),
        PropagationKernel(t_max=5, base_kernel="intersection"),
        PropagationKernel(labels="log_degree", propagation=Diffusion(0.0, "none"), **wide),
        WeisfeilerLehman(t_max=4, base_kernel="intersection"),
        WeisfeilerLehman(t_max=4, **RATIO),
    ]


def _partially_labeled() -> list[Any]:
    """Label propagation, and diffusion of uncertain labels in wide bins.

    Label propagation resets observed labels at every step, so that the positions of missing labels separate
    nodes. Diffusion starts unobserved nodes with the frequencies of all labels instead.
    """
    wide: dict[str, Any] = {"prior": "frequency", "base_kernel": "intersection", **WIDE}
    return [
        PropagationKernel(propagation="label_propagation"),
        PropagationKernel(propagation="label_propagation", base_kernel="intersection", t_max=5),
        PropagationKernel(propagation=_summed(), prior="frequency", base_kernel="intersection", t_max=5),
        PropagationKernel(propagation=_summed(), t_max=6, **wide),
        WeisfeilerLehman(t_max=4, base_kernel="intersection"),
    ]


def _attributed(graphs: Any) -> list[Any]:
    """Kernels on attributes: one dimension at a time, about 20 hashes per iteration; many also together.

    Two nodes rarely agree in many dimensions, so joint kernels have more hashes and wide bins.
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


def check_kernels(
    kernel: Any, graphs: Any, is_regression: bool = False, is_linear: bool = False
) -> list[Any]:
    """Return the candidates given by the parameter ``kernel``: one, several, or the defaults."""
    if kernel is None:
        return default_kernels(graphs, is_regression, is_linear)
    several = [named_kernel(one) for one in (kernel if isinstance(kernel, (list, tuple)) else [kernel])]
    if not several:
        raise ValueError("kernel must be one estimator or a list of at least one, got an empty list")
    for candidate in several:
        if isinstance(candidate, type) or not hasattr(candidate, "fit_transform"):
            raise TypeError(f"kernel must be an estimator with fit_transform, got {shown(candidate)}")
    return several
